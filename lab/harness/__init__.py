# SPDX-License-Identifier: Apache-2.0
"""The lab's harness: builds runtimes, runs workloads under limits, checks answers, writes
tables.
"""
