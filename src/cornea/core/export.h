// SPDX-License-Identifier: Apache-2.0
// Marks the symbols that a shared library exports: the public classes and functions, and nothing
// else.
#pragma once

#if defined(__GNUC__)
#define CORNEA_API __attribute__((visibility("default")))
#else
#define CORNEA_API
#endif
