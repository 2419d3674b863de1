# SPDX-License-Identifier: Apache-2.0
def for_page(documents):
    return []
