// SPDX-License-Identifier: Apache-2.0
//
// Singular value decompositions of many small matrices in one call: A = U diag(S) V^T.
//
//   svd_batch matrices.txt 3 4
//
// reads 3 x 4 matrices from a text file, row by row, all numbers separated by white space, and
// prints the singular values of each.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <cornea/cornea.h>

template <class T>
T number(const std::string& word) {
  T value{};
  const char* const end = word.data() + word.size();
  const std::from_chars_result read = std::from_chars(word.data(), end, value);
  cornea::require(read.ec == std::errc() && read.ptr == end, "\"", word, "\" is not a number");
  return value;
}

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: svd_batch FILE ROWS COLUMNS\n";
    return 2;
  }
  const int m = number<int>(argv[2]), n = number<int>(argv[3]), k = std::min(m, n);
  cornea::require(k > 0, "a matrix of ", m, " x ", n, " has no singular values");
  std::ifstream in(argv[1]);
  std::vector<double> a;
  for (std::string word; in >> word;) a.push_back(number<double>(word));
  cornea::require(in.eof(), argv[1], ": cannot be read");
  const std::size_t size = std::size_t(m) * std::size_t(n), count = a.size() / size;
  cornea::require(count > 0 && count * size == a.size(), argv[1], ": ", a.size(),
                  " numbers are not whole matrices of ", m, " x ", n);

  const cornea::Context context = cornea::Context::best();
  cornea::Svd svd(context);
  std::vector<double> u(count * m * k), s(count * k), v(count * n * k);
  // What is not wanted is an empty span, which saves its time.
  svd.compute<double>({.rows = m, .cols = n, .count = int(count)}, a, u, s, v);
  cornea::require(svd.report().not_finite == 0, "matrix ", svd.report().first_not_finite,
                  " holds a number that is not finite");

  double largest = 0;  // of |A - U diag(S) V^T|, over all entries
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t matrix = i / size, row = i / n, column = matrix * n + i % n;
    double sum = 0;
    for (int j = 0; j < k; ++j) sum += u[row * k + j] * s[matrix * k + j] * v[column * k + j];
    largest = std::max(largest, std::abs(a[i] - sum));
  }
  std::cout << count << " matrices of " << m << " x " << n << " on " << context.description()
            << ", largest error " << largest << "\n";
  std::cout.precision(12);
  for (std::size_t i = 0; i < s.size(); ++i) std::cout << s[i] << ((i + 1) % k ? ' ' : '\n');
} catch (const std::exception& error) {
  std::cerr << "svd_batch: " << error.what() << "\n";
  return 1;
}
