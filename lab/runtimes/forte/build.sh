#!/usr/bin/env bash
# forte's published versions (1.0.0-beta.2 and before it the alphas) change their interface from one to the next and the
# newest asks for rustc 1.96. There is no port to it here yet.
echo "no its newest version asks for rustc 1.96 ($(rustc --version 2>/dev/null || echo "no rustc here")); there is no port yet"
