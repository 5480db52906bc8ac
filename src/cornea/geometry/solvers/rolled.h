// SPDX-License-Identifier: Apache-2.0
// Marks a loop that nvcc must not unroll: the solvers' arrays are too large for registers, and
// unrolling would make their code 1.5 times as large.
#pragma once

#ifdef __CUDA_ARCH__
#define CORNEA_ROLLED _Pragma("unroll 1")
#else
#define CORNEA_ROLLED
#endif
