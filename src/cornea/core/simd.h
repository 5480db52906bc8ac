// CORNEA_VECTOR_CLONES before a hot loop's function: on x86-64 the compiler emits it for the
// baseline and for AVX2 machines and the loader picks; elsewhere the baseline already has the
// vector unit (NEON on aarch64). What the function calls is inlined into it, so that the clones
// hold the loops themselves. Results do not differ: builds forbid contraction into fused
// operations.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__CUDACC__)
#define CORNEA_VECTOR_CLONES __attribute__((flatten, target_clones("default", "arch=x86-64-v3")))
#else
#define CORNEA_VECTOR_CLONES
#endif
