// Marks a function that both the CPU compiler and nvcc see: formulas are written once.
#pragma once

#ifdef __CUDACC__
#define CORNEA_HD __host__ __device__
#else
#define CORNEA_HD
#endif
