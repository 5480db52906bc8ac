# syntax=docker/dockerfile:1
# SPDX-License-Identifier: Apache-2.0
#
# Cornea in a container, for the CPU on Debian 12 or for CUDA on NVIDIA's image of Ubuntu 24.04:
#
#   docker build -t cornea .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" cornea pair a.jpg b.jpg -o pair
#
#   docker build -t cornea:cuda --build-arg KIND=cuda .
#   docker run --rm --gpus all --user "$(id -u):$(id -g)" -v "$PWD:/data" cornea:cuda pair a.jpg b.jpg -o pair
#
# KIND=cuda compiles for every GPU from compute capability 7.5 on; CUDA names the toolkit's version.
ARG KIND=cpu
ARG CUDA=13.0.1

FROM debian:12-slim AS build-cpu
FROM debian:12-slim AS run-cpu
FROM nvidia/cuda:${CUDA}-devel-ubuntu24.04 AS build-cuda
# The CUDA runtime is linked statically: the driver's own library, which the host brings, is all that is needed.
FROM nvidia/cuda:${CUDA}-base-ubuntu24.04 AS run-cuda

FROM build-${KIND} AS build
ARG KIND
ENV DEBIAN_FRONTEND=noninteractive
# The same list as in script/setup.sh, in a layer of its own that a change of the sources does not touch.
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ cmake ninja-build libeigen3-dev libpng-dev libjpeg-dev \
       libtiff-dev libwebp-dev libsqlite3-dev libcli11-dev nlohmann-json3-dev dpkg-dev file \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /cornea
COPY . .
RUN script/package "${KIND}"

FROM run-${KIND}
ENV DEBIAN_FRONTEND=noninteractive
RUN --mount=type=bind,from=build,source=/cornea/build/package,target=/packages \
    apt-get update \
    && apt-get install -y --no-install-recommends /packages/cornea_*.deb \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["cornea"]
CMD ["--help"]
