// SPDX-License-Identifier: Apache-2.0
// CORNEA_VECTOR_CLONES marks a function with a hot loop: on x86-64 the compiler emits one version
// for the baseline and one for AVX2 (target_clones), and the loader selects one; on other
// architectures the baseline already includes the vector unit (NEON on aarch64). Callees are
// inlined (flatten), so that the clones contain the loops themselves. Both versions give the same
// results, because builds forbid contraction into fused operations. Loops that need fused
// operations are compiled per instruction set: see isa.h.
//
// Clang also supports clones but does not flatten them: a Pack passed to a function that was not
// inlined would use a different calling convention in caller and callee. CORNEA_LOOP_CLONES works
// with both compilers: it marks a function whose callees have only plain loops and are marked
// CORNEA_INTO_CLONES.
//
// CORNEA_FLATTEN, in files compiled per instruction set, marks a function into which all callees
// are inlined. Without it GCC stops inlining half-way and spills values to memory that would
// otherwise live in registers.
//
// Pack<T> is a short vector for loops that the compiler does not vectorise by itself: the usual
// operators work on all lanes. It is as wide as the registers of AVX2 on x86-64 and of NEON
// elsewhere.
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "cornea/core/isa.h"

#if defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__CUDACC__)
#if defined(__x86_64__) && !defined(CORNEA_NO_CLONES)
#define CORNEA_VECTOR_CLONES __attribute__((flatten, target_clones("default", "arch=x86-64-v3")))
#else
#define CORNEA_VECTOR_CLONES __attribute__((flatten))
#endif
#else
#define CORNEA_VECTOR_CLONES
#endif

#if defined(__clang__) && defined(__x86_64__) && !defined(CORNEA_NO_CLONES) && !defined(__CUDACC__)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define CORNEA_LOOP_CLONES __attribute__((target_clones("default", "avx2")))
#endif
#endif
#ifndef CORNEA_LOOP_CLONES
#define CORNEA_LOOP_CLONES CORNEA_VECTOR_CLONES
#endif
#define CORNEA_INTO_CLONES inline __attribute__((always_inline))
#if defined(__clang__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CORNEA_FLATTEN
#else
#define CORNEA_FLATTEN __attribute__((flatten))
#endif

namespace cornea::core {
inline namespace CORNEA_ISA {

#if defined(__x86_64__)
inline constexpr int kPackBytes = 32;
#else
inline constexpr int kPackBytes = 16;
#endif

template <class T>
struct PackOf {
  typedef T type __attribute__((vector_size(kPackBytes), may_alias));
  // An unaligned vector in an array of numbers.
  typedef T in_memory __attribute__((vector_size(kPackBytes), aligned(sizeof(T)), may_alias));
  static constexpr int kLanes = kPackBytes / sizeof(T);
};
template <class T>
using Pack = typename PackOf<T>::type;
template <class T>
inline constexpr int kLanes = PackOf<T>::kLanes;

template <class T>
inline Pack<T> load_pack(const T* from) {
  return *reinterpret_cast<const typename PackOf<T>::in_memory*>(from);
}
template <class T>
inline void store_pack(T* to, Pack<T> value) {
  *reinterpret_cast<typename PackOf<T>::in_memory*>(to) = value;
}
// Calls f(begin), f(begin + 1), .. f(end - 1). With bounds of type std::integral_constant the calls
// are unrolled, each with a constant, so that arrays indexed by it can live in registers; with
// plain integers it is a loop.
template <int begin, int end, class F>
inline void each_index(std::integral_constant<int, begin>, std::integral_constant<int, end>,
                       F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (f(std::integral_constant<int, begin + i>{}), ...);
  }
  (std::make_integer_sequence<int, end - begin>{});
}
template <class F>
inline void each_index(int begin, int end, F&& f) {
  for (int i = begin; i < end; ++i) f(i);
}
template <int i>
constexpr std::integral_constant<int, i + 1> next_index(std::integral_constant<int, i>) {
  return {};
}
constexpr int next_index(int i) { return i + 1; }

// The same value in all lanes.
template <class T>
inline Pack<T> pack_of(T value) {
  return value - Pack<T>{};
}

// a b + c, rounded once. Results depend on it bit for bit, so it is written explicitly. It is one
// instruction where the processor has one and a slow function call where it has none (x86-64 before
// 2013); the value is the same.
inline float fused(float a, float b, float c) { return std::fma(a, b, c); }
inline double fused(double a, double b, double c) { return std::fma(a, b, c); }
#if defined(__FMA__)
inline Pack<float> fused(Pack<float> a, Pack<float> b, Pack<float> c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline Pack<double> fused(Pack<double> a, Pack<double> b, Pack<double> c) {
  return _mm256_fmadd_pd(a, b, c);
}
#elif defined(__aarch64__)
inline Pack<float> fused(Pack<float> a, Pack<float> b, Pack<float> c) { return vfmaq_f32(c, a, b); }
inline Pack<double> fused(Pack<double> a, Pack<double> b, Pack<double> c) {
  return vfmaq_f64(c, a, b);
}
#else
template <class T>
inline Pack<T> fused_lanes(Pack<T> a, Pack<T> b, Pack<T> c) {
  for (int i = 0; i < kLanes<T>; ++i) c[i] = std::fma(a[i], b[i], c[i]);
  return c;
}
inline Pack<float> fused(Pack<float> a, Pack<float> b, Pack<float> c) {
  return fused_lanes<float>(a, b, c);
}
inline Pack<double> fused(Pack<double> a, Pack<double> b, Pack<double> c) {
  return fused_lanes<double>(a, b, c);
}
#endif

}  // namespace CORNEA_ISA
}  // namespace cornea::core
