# SPDX-License-Identifier: Apache-2.0
import sys

from .declared import UsageError

try:
    from .cli import main
except UsageError as error:  # of a declaration, which is read when the lab is
    sys.exit(f"sennit: {error}")

sys.exit(main(sys.argv[1:]))
