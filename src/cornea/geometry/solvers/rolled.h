// SPDX-License-Identifier: Apache-2.0
// Before a loop that nvcc must not unroll: the solvers' arrays are too large for registers, and
// unrolled their code grows by half.
#pragma once

#ifdef __CUDA_ARCH__
#define CORNEA_ROLLED _Pragma("unroll 1")
#else
#define CORNEA_ROLLED
#endif
