# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: works from any folder and installs what is missing on Debian and
# Ubuntu. Every step is announced before it is done.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf '\n== %s\n' "$*"; }

# Packages that the build requires, and those for its optional parts.
BUILD_PACKAGES=(g++ cmake ninja-build libeigen3-dev libpng-dev libjpeg-dev libtiff-dev libwebp-dev
  libsqlite3-dev libcli11-dev nlohmann-json3-dev)
TEST_PACKAGES=(libgtest-dev python3 pkg-config dpkg-dev file)

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "script: run as root or install sudo; needed: $*" >&2
    exit 1
  fi
}

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

# need_packages PACKAGE...: installs those that are missing.
need_packages() {
  local package missing=()
  if ! command -v apt-get >/dev/null; then
    say "this is not Debian or Ubuntu: please install these packages or their equivalents: $*"
    return
  fi
  for package in "$@"; do installed "$package" || missing+=("$package"); done
  if [ ${#missing[@]} = 0 ]; then return; fi
  say "installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
}

# Clang with the runtimes of its sanitizers and of libFuzzer, which are separate packages on newer
# systems.
need_clang() {
  need_packages clang
  if [ ! -e "$(clang++ -print-file-name="libclang_rt.fuzzer-$(uname -m).a")" ]; then
    need_packages libclang-rt-dev
  fi
}

# If CMake is older than 3.25 (as on Ubuntu 22.04), a newer one is installed from PyPI into a folder
# here.
need_cmake() {
  local version
  version=$(cmake --version | head -n 1 | sed 's/[^0-9.]*//')
  if [ "$(printf '%s\n3.25\n' "$version" | sort -V | head -n 1)" = 3.25 ]; then return; fi
  if [ ! -x .tools/bin/cmake ]; then
    need_packages python3-venv
    say "CMake $version is too old; getting a newer one into .tools"
    python3 -m venv .tools
    .tools/bin/pip install --quiet 'cmake>=3.25,<4'
  fi
  export PATH="$PWD/.tools/bin:$PATH"
}

# What a virtual environment and compiled Python modules need.
need_python() {
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then need_packages python3-venv; fi
  local header
  header=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")')
  if [ ! -e "$header" ]; then need_packages python3-dev; fi
}

# python_environment FOLDER [PACKAGE ..]: a virtual environment with what builds the Python package,
# and these packages.
python_environment() {
  local folder=$1
  shift
  need_python
  if [ ! -x "$folder/bin/pip" ]; then
    rm -rf "$folder"
    python3 -m venv "$folder"
  fi
  "$folder/bin/pip" install --quiet --disable-pip-version-check scikit-build-core 'nanobind>=3.1' nanobind-backend "$@"
}

# nvcc may be installed but not on the PATH, as after a plain installation of the toolkit.
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
  export PATH="$PATH:/usr/local/cuda/bin"
fi
# Older versions do not support C++20, and the build ignores them.
have_nvcc() {
  command -v nvcc >/dev/null && [ "$(nvcc --version | sed -n 's/.*release \([0-9]*\).*/\1/p')" -ge 12 ]
}
have_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; }

# With ccache, nothing is compiled twice, in this clone or in another.
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
  export CMAKE_CUDA_COMPILER_LAUNCHER=${CMAKE_CUDA_COMPILER_LAUNCHER-ccache}
  export CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
fi

# build PRESET [TARGET ..]: configures with CONFIGURE_OPTIONS and builds, incrementally.
CONFIGURE_OPTIONS=(-DCORNEA_UNITY=ON)
build() {
  local log="build/$1-configure.log"
  mkdir -p build
  say "building: $*"
  if ! cmake --preset "$1" "${CONFIGURE_OPTIONS[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
  fi
  sed -n '/^-- Cornea /,/^-- $/p' "$log" | sed 's/^-- //'
  cmake --build --preset "$1" ${2:+--target "${@:2}"}
}
