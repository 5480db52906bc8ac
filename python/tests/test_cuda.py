# SPDX-License-Identifier: Apache-2.0
"""Arrays on a GPU: input and output without host copies, with stream ordering."""

import gc

import numpy as np
import pytest

import cornea

if not cornea.info()["devices"]:
    pytest.skip(f"no GPU: {cornea.info()['why_no_cuda']}", allow_module_level=True)
torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def tensor(image):
    return torch.from_numpy(image.copy()).cuda()


@pytest.fixture(autouse=True)
def in_order():
    yield
    torch.cuda.synchronize()


@pytest.mark.parametrize("name", ["foagdd", "harris", "moravec", "sift"])
def test_a_tensor_gives_the_same_result_as_an_array(image, tensor, name):
    expected = cornea.detect(image, name, device="cpu")
    for given in (image, tensor):
        found = cornea.detect(given, name, device="cuda")
        assert np.array_equal(found.xy, expected.xy) and np.array_equal(found.response, expected.response)
        if name == "sift":
            assert np.array_equal(found.descriptors, expected.descriptors)
    assert cornea.Detector(name).device == "cuda:0"
    # "auto" follows the tensor.
    assert np.array_equal(cornea.detect(tensor, name).xy, expected.xy)


def test_types_and_layouts(image, tensor):
    expected = cornea.detect(image, "harris", device="cpu").xy
    wide = torch.zeros((image.shape[0], image.shape[1] + 32), dtype=torch.uint8, device="cuda")
    wide[:, : image.shape[1]] = tensor
    assert np.array_equal(cornea.detect(wide[:, : image.shape[1]], "harris").xy, expected)
    rgb = torch.stack([tensor] * 3, dim=2).contiguous()
    assert np.array_equal(cornea.detect(rgb, "harris").xy, expected)
    floats = image.astype(np.float32) / 255
    assert np.array_equal(
        cornea.detect(torch.from_numpy(floats).cuda(), "harris").xy, cornea.detect(floats, "harris", device="cpu").xy
    )
    with pytest.raises(ValueError, match="make it contiguous"):
        cornea.detect(tensor.t(), "harris")
    with pytest.raises(TypeError, match="float64"):
        cornea.detect(tensor.double(), "harris")


def test_masks(image, tensor):
    mask = np.zeros(image.shape, bool)
    mask[:, :200] = True
    expected = cornea.detect(image, "harris", mask=mask, device="cpu").xy
    assert np.array_equal(cornea.detect(tensor, "harris", mask=torch.from_numpy(mask).cuda()).xy, expected)
    with pytest.raises(ValueError, match="copy them to the same kind of memory"):
        cornea.detect(tensor, "harris", mask=mask)


def test_the_wrong_device(tensor):
    with pytest.raises(ValueError, match="lies on a CUDA device and the work is to run on cpu"):
        cornea.detect(tensor, "harris", device="cpu")


def test_nothing_is_uploaded(tensor):
    context = cornea.Harris(device="cuda")._made.context
    harris = cornea.Harris(device="cuda")
    harris.detect(tensor)
    before = context.transfers()
    harris.detect(tensor)
    after = context.transfers()
    assert after["uploads"] == before["uploads"]
    smooth = cornea.Filter("gaussian", device="cuda")
    smooth.apply(tensor)
    before = context.transfers()
    result = smooth.apply(tensor)
    assert context.transfers() == before
    assert torch.from_dlpack(result).is_cuda


def test_features_stay_on_the_device(image, tensor):
    sift = cornea.Sift(device="cuda")
    expected = cornea.detect(image, "sift", device="cpu")
    context = sift._made.context
    before = context.transfers()
    for _ in range(3):
        found = sift.detect_on_device(tensor)
        descriptors, keypoints = torch.from_dlpack(found.descriptors), torch.from_dlpack(found.keypoints)
        assert len(found) == len(expected)
    assert context.transfers() == before, "a transfer"
    assert isinstance(found.descriptors, cornea.DeviceArray)
    assert descriptors.is_cuda and descriptors.shape == expected.descriptors.shape
    assert keypoints.is_cuda and keypoints.shape == (len(expected), 8)
    assert np.array_equal(keypoints[:, :2].cpu().numpy(), expected.xy)
    assert np.array_equal(keypoints[:, 5].contiguous().view(torch.int32).cpu().numpy(), expected.octave)
    # Columns are downloaded on first access, once.
    assert np.array_equal(found._columns, expected._columns) and np.array_equal(found.octave, expected.octave)
    assert found.angle.shape == (len(expected),)
    assert context.transfers()["downloads"] == before["downloads"] + 1
    assert np.array_equal(descriptors.cpu().numpy(), expected.descriptors)
    assert np.array_equal(found.descriptors.numpy(), expected.descriptors)
    # They can be matched on the device, and outlive the detector.
    own = cornea.match(expected.descriptors, expected.descriptors, ratio=1, device="cpu")
    both = cornea.Matcher(ratio=1, device="cuda").match(found.descriptors, descriptors)
    assert np.array_equal(both.a, own.a) and np.array_equal(both.b, own.b)
    del sift, found
    gc.collect()
    torch.zeros(1 << 22, dtype=torch.uint8, device="cuda").fill_(255)
    assert np.array_equal(descriptors.cpu().numpy(), expected.descriptors)


class DlpackOnly:
    """A tensor of a library without DLPack's C exchange API."""

    def __init__(self, tensor):
        self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__


@pytest.mark.parametrize("way", ["own stream", "torch's stream", "without the C exchange API"])
def test_order_without_a_device_wide_wait(image, way):
    """A long kernel and a copy are queued on a torch stream; Cornea must see their result."""
    expected = cornea.filter(image, "gaussian", sigma=2, as_float=True, device="cpu")
    source = torch.from_numpy(image.copy()).cuda()
    late = torch.zeros_like(source)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)  # cycles: about a tenth of a second
        late.copy_(source)
        given = {"stream": stream} if way == "torch's stream" else {}
        array = DlpackOnly(late) if way == "without the C exchange API" else late
        result = cornea.filter(array, "gaussian", sigma=2, as_float=True, device="cuda", **given)
        taken = torch.from_dlpack(result) + 0  # on this stream
        late.zero_()
    stream.synchronize()
    assert np.array_equal(taken.cpu().numpy(), expected)


@pytest.mark.parametrize("options", [{}, {"affine_shape": True, "max_points": 200}, {"contrast": 0.002, "edge_ratio": 0}])
def test_features_on_the_device_are_those_of_the_host(image, tensor, options):
    sift = cornea.Sift(device="cuda", **options)
    mask = np.zeros(image.shape, bool)
    mask[:, :200] = True
    for hidden in (None, mask):
        expected = cornea.detect(image, "sift", device="cpu", mask=hidden, **options)
        for _ in range(3):  # step by step, and as a graph; other calls in between
            found = sift.detect_on_device(tensor, None if hidden is None else torch.from_numpy(hidden).cuda())
            assert np.array_equal(found._columns, expected._columns)
            assert np.array_equal(found.frames, expected.frames)
            assert np.array_equal(found.descriptors.numpy(), expected.descriptors)
            assert np.array_equal(sift.detect(image, hidden).descriptors, expected.descriptors)
    assert len(sift.detect_on_device(tensor[:4, :4].contiguous())) == 0
    with pytest.raises(ValueError, match="is not reduced to max_size"):
        cornea.Sift(device="cuda", max_size=100).detect_on_device(tensor)
    with pytest.raises(ValueError, match="the detector is sift on cpu"):
        cornea.Sift(device="cpu").detect_on_device(image)


def test_features_of_a_late_tensor_on_its_stream(image):
    """Queued after a long kernel on a torch stream; descriptors are read on that stream too."""
    expected = cornea.detect(image, "sift", device="cpu")
    source = torch.from_numpy(image.copy()).cuda()
    late = torch.zeros_like(source)
    stream = torch.cuda.Stream()
    sift = cornea.Sift(device="cuda", stream=stream)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        late.copy_(source)
        found = sift.detect_on_device(late)
        taken = torch.from_dlpack(found.descriptors).clone()
        late.zero_()
    stream.synchronize()
    assert np.array_equal(taken.cpu().numpy(), expected.descriptors)


def test_points_of_a_late_tensor(image):
    expected = cornea.detect(image, "harris", device="cpu").xy
    source = torch.from_numpy(image.copy()).cuda()
    late = torch.zeros_like(source)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        late.copy_(source)
        assert np.array_equal(cornea.detect(late, "harris").xy, expected)


def test_streams_of_every_kind(tensor):
    expected = cornea.detect(tensor, "harris").xy
    stream = torch.cuda.Stream()

    class OfCudaPython:
        def __cuda_stream__(self):
            return (0, stream.cuda_stream)

    streams = [stream, stream.cuda_stream, OfCudaPython(), 1, 2]
    try:
        import cupy

        streams.append(cupy.cuda.Stream(non_blocking=True))
    except ImportError:
        pass
    torch.cuda.synchronize()
    for one in streams:
        for array in (tensor, DlpackOnly(tensor)):
            assert np.array_equal(cornea.detect(array, "harris", device="cuda", stream=one).xy, expected)
    with pytest.raises(TypeError, match="stream is a str"):
        cornea.detect(tensor, "harris", device="cuda", stream="first")
    with pytest.raises(ValueError, match="a stream belongs to a CUDA device"):
        cornea.Harris(device="cpu", stream=stream)


def test_a_tensor_that_is_freed_at_once(image):
    """Neither an input nor a result may be overwritten by the next owner of its memory while it is in use."""
    expected = cornea.filter(image, "bilateral", device="cpu", as_float=True)
    for _ in range(20):
        result = cornea.filter(torch.from_numpy(image.copy()).cuda(), "bilateral", as_float=True)
        torch.full(image.shape, 77, dtype=torch.uint8, device="cuda")
        taken = torch.from_dlpack(result)
        del result
        gc.collect()
        cornea.filter(torch.zeros(image.shape, dtype=torch.uint8, device="cuda"), "bilateral", as_float=True)
        assert np.array_equal(taken.cpu().numpy(), expected)


def test_arrays_of_cupy(image):
    cupy = pytest.importorskip("cupy")
    expected = cornea.detect(image, "harris", device="cpu").xy
    array = cupy.asarray(image)
    assert np.array_equal(cornea.detect(array, "harris").xy, expected)
    smooth = cornea.filter(array, "gaussian", as_float=True)
    host = cornea.filter(image, "gaussian", as_float=True, device="cpu")
    assert np.array_equal(cupy.asnumpy(cupy.asarray(smooth)), host)
    assert np.array_equal(cupy.asnumpy(cupy.from_dlpack(smooth)), host)

    class Interface:
        """An object that has only __cuda_array_interface__."""

        __cuda_array_interface__ = array.__cuda_array_interface__

    assert np.array_equal(cornea.detect(Interface(), "harris", device="cuda").xy, expected)


def test_geometry_is_the_same_on_both(matches):
    for function in (cornea.fundamental, cornea.homography):
        on_cpu, on_gpu = function(matches, device="cpu"), function(matches, device="cuda")
        assert np.array_equal(on_cpu.inliers, on_gpu.inliers)
        name = "F" if function is cornea.fundamental else "H"
        assert np.array_equal(getattr(on_cpu, name), getattr(on_gpu, name))


def test_a_pair_of_tensors(views):
    first, second = (cornea.read(file) for file in views)
    on_gpu = cornea.pair(torch.from_numpy(first).cuda(), torch.from_numpy(second).cuda(), max_size=0)
    assert np.array_equal(on_gpu.F, cornea.pair(first, second, device="cpu", max_size=0).F)
    assert on_gpu._repr_png_().startswith(b"\x89PNG")


def test_nothing_leaks_on_the_device(image, tensor):
    sift, smooth = cornea.Sift(device="cuda"), cornea.Filter("gaussian", device="cuda")
    context = sift._made.context

    def calls(count):
        for _ in range(count):
            sift.detect_on_device(tensor)
            torch.from_dlpack(smooth.apply(tensor))
        gc.collect()
        torch.cuda.synchronize()

    calls(10)
    held, free = context.memory_bytes(), torch.cuda.mem_get_info()[0]
    calls(300)
    assert context.memory_bytes() == held
    assert free - torch.cuda.mem_get_info()[0] < 8 << 20
