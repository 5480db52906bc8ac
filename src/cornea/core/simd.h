// CORNEA_VECTOR_CLONES before a hot loop's function: on x86-64 the compiler emits it for the
// baseline and for AVX2 machines and the loader picks; elsewhere the baseline already has the
// vector unit (NEON on aarch64). What the function calls is inlined into it, so that the clones
// hold the loops themselves. Results do not differ: builds forbid contraction into fused
// operations (but for some rooms' hot loops: see src/cornea/CMakeLists.txt).
//
// Pack<T> is a short vector for loops that the compiler does not vectorise by itself: the usual
// operators work on all lanes. It is as wide as the registers of AVX2 on x86-64 and of NEON
// elsewhere.
#pragma once

#include <type_traits>
#include <utility>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__CUDACC__)
#define CORNEA_VECTOR_CLONES __attribute__((flatten, target_clones("default", "arch=x86-64-v3")))
#elif defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__CUDACC__)
#define CORNEA_VECTOR_CLONES __attribute__((flatten))
#else
#define CORNEA_VECTOR_CLONES
#endif

namespace cornea::core {

#if defined(__x86_64__)
inline constexpr int kPackBytes = 32;
#else
inline constexpr int kPackBytes = 16;
#endif

template <class T>
struct PackOf {
  // Need not be aligned in memory.
  typedef T type __attribute__((vector_size(kPackBytes), aligned(sizeof(T)), may_alias));
  static constexpr int kLanes = kPackBytes / sizeof(T);
};
template <class T>
using Pack = typename PackOf<T>::type;
template <class T>
inline constexpr int kLanes = PackOf<T>::kLanes;

template <class T>
inline Pack<T> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T>*>(from);
}
template <class T>
inline void store_pack(T* to, Pack<T> value) {
  *reinterpret_cast<Pack<T>*>(to) = value;
}
// Calls f(begin), f(begin + 1), .. f(end - 1). With bounds of type std::integral_constant the calls
// stand one after the other in the code, each with a constant, so that arrays indexed by it can
// live in registers; with plain integers it is a loop.
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

}  // namespace cornea::core
