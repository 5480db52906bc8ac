# SPDX-License-Identifier: Apache-2.0
"""The entry point that the program `cornea` starts for ``cornea cluster``."""

import sys

from .command import main

sys.exit(main())
