# SPDX-License-Identifier: Apache-2.0
"""Devices, contexts and streams."""

from __future__ import annotations

from typing import Any

from . import _cornea

_ON_CUDA = (2, 13)  # DLPack's device types of CUDA memory, plain and managed


def stream_handle(stream: Any) -> int:
    """The handle of a CUDA stream of any library: an int, or an object with __cuda_stream__ (CUDA
    Python), .cuda_stream (torch) or .ptr (CuPy)."""
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise TypeError(
        f"stream is a {type(stream).__name__}; give an int, or a stream of torch, CuPy or CUDA Python"
    )


def device_of(array: Any) -> str | None:
    """The CUDA device of an array; None if it is in host memory."""
    if not hasattr(array, "__dlpack_device__"):
        return "cuda" if hasattr(array, "__cuda_array_interface__") else None
    kind, index = array.__dlpack_device__()
    return f"cuda:{index}" if int(kind) in _ON_CUDA else None


def name_for(device: str, images: Any) -> str:
    """The device of a call that takes an image or a list of images: "auto" is the GPU of the first image."""
    first = images[0] if isinstance(images, list) and images else images
    return (device_of(first) or device) if device == "auto" else device


def context(device: str, threads: int, stream: Any = None, array: Any = None) -> _cornea.Context:
    """The context of a call. "auto" is the GPU of `array` if it is on one, otherwise the best available device."""
    device = name_for(device, array)
    if stream is not None:
        return _cornea.context_on_stream(device, stream_handle(stream))
    return _cornea.shared_context(device, threads)
