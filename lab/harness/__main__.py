# SPDX-License-Identifier: Apache-2.0
import sys

from .declared import UsageError

try:
    from .cli import main
except UsageError as error:  # a mistake in a declaration, which is read when the lab is imported
    sys.exit(f"sennit: {error}")

sys.exit(main(sys.argv[1:]))
