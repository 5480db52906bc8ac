// SPDX-License-Identifier: Apache-2.0
// Calls every public class and function once, from outside: symbols that a shared library does not
// export do not link, and partial initialisation must not warn. Works in the folder that it is
// given.
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include <cornea/colmap.h>
#include <cornea/cornea.h>
#include <cornea/scene.h>

using namespace cornea;

namespace {

int failures = 0;
void expect(bool condition, const char* what) {
  if (condition) return;
  std::cout << "wrong: " << what << "\n";
  ++failures;
}

template <class F>
bool refuses(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.code() == ErrorCode::invalid_argument && !name(error.code()).empty();
  }
  return false;
}

template <class Options>
bool validates(const Options& options) {
  options.validate();
  return true;
}

void options_with_some_members() {
  expect(validates(PeakOptions{.max_points = 3}), "PeakOptions");
  expect(validates(MoravecOptions{.window = 5}), "MoravecOptions");
  expect(validates(HarrisOptions{.k = 0.05}), "HarrisOptions");
  expect(validates(FoagddOptions{.rho = 1.4}), "FoagddOptions");
  expect(validates(SiftOptions{.affine_shape = true, .domain_size_pooling = true}), "SiftOptions");
  expect(validates(MatchOptions{.ratio = 0.7f}), "MatchOptions");
  expect(validates(RetrieveOptions{.neighbours = 5}), "RetrieveOptions");
  expect(validates(FundamentalOptions{.seed = 5}), "FundamentalOptions");
  expect(validates(GaussianOptions{.sigma = 2}), "GaussianOptions");
  expect(validates(BilateralOptions{.radius = 3}), "BilateralOptions");
  expect(BilateralOptions{.radius = 3}.window_radius() == 3, "window_radius");
  expect(validates(TrilateralOptions{.sigma = 3}), "TrilateralOptions");
  expect(validates(SvdOptions{.max_sweeps = 30}), "SvdOptions");
  expect(validates(PairOptions{.max_features = 500}), "PairOptions");
  expect(validates(PageOptions{.longest_side = 500}), "PageOptions");
  expect(validates(ImportOptions{}), "ImportOptions");
  expect(validates(ExtractOptions{.cameras = CameraSharing::single}), "ExtractOptions");
  expect(validates(MatchAllOptions{.sequential = 3}), "MatchAllOptions");
  expect(validates(VerifyOptions{.min_inliers = 20}), "VerifyOptions");
  expect(validates(SceneOptions{.views = 2}), "SceneOptions");
  expect(validates(CheckerboardOptions{}), "CheckerboardOptions");
  expect(validates(Degradation{}), "Degradation");
  expect(DrawOptions{.most_lines = 10}.most_lines == 10, "DrawOptions");
  expect(ReadOptions{.upright = true}.upright, "ReadOptions");
  expect(validates(PixelRange{PixelRange::Kind::given, 0, 1023}), "PixelRange");
  expect(MatchedPointsOptions{.count = 9}.count == 9, "MatchedPointsOptions");
}

void filters_and_detectors(const Context& context, const Image<float>& image) {
  expect(GaussianFilter(context).apply(image).width() == image.width(), "GaussianFilter");
  BilateralFilter bilateral(context, {.sigma = 1});
  bilateral.time_stages(true);
  bilateral.apply(image);
  expect(!bilateral.report().stages.empty() && !bilateral.context().is_cuda(), "BilateralFilter");
  TrilateralFilter trilateral(context, {.sigma = 2});
  expect(trilateral.level_map(image).height() == image.height(), "level_map");
  expect(refuses([&] { trilateral.enqueue(image, AnyTarget(*const_cast<Image<float>*>(&image))); }),
         "ImageFilter::enqueue");
  trilateral.wait();

  Harris harris(context, {.peaks = {.threshold = 0.01, .relative = true, .max_points = 100}});
  std::vector<Corner> corners = harris.detect(image);
  expect(!corners.empty() && harris.report().points == corners.size(), "Harris");
  refine_corners(context, image, 3, corners);
  expect(!Moravec(context).detect(image).empty(), "Moravec");
  Foagdd foagdd(context);
  const Image<float> response = foagdd.response(image);
  expect(!find_peaks<float>(context, response.host(), {.threshold = 1e6}).empty(), "find_peaks");
  const Image<double> zeros = [&] {
    Image<double> map(20, 20);
    for (int y = 0; y < 20; ++y) std::fill_n(map.host().row(y), 20, 0.0);
    return map;
  }();
  expect(find_peaks<double>(context, zeros.host(), {}).empty(), "find_peaks of doubles");
  foagdd.time_stages(true);
  expect(refuses([&] { foagdd.enqueue(image); }) && refuses([&] { foagdd.collect(); }), "enqueue");
  CornerDetector&& moved = std::move(harris);
  expect(moved.context().threads() > 0, "CornerDetector");
}

void features_and_geometry(const Context& context, const std::vector<View>& views,
                           const std::string& folder) {
  const Image<float>&a = views[0].image, &b = views[1].image;
  Sift sift(context, {.max_points = 400});
  Features first = sift.detect(a), second;
  sift.detect(b, second);
  sift.keep_on_device(false);
  expect(first.size() > 100 && !sift.device_descriptors() && sift.memory_needed(100, 100) > 0 &&
             sift.level(0, 0).width() > 0 && sift.options().max_points == 400,
         "Sift");
  expect(refuses([&] { sift.detect_on_device(a); }) && DeviceFeatures{}.size == 0,
         "detect_on_device");
  Features described;
  const std::vector<Corner> corners = {{50, 50, 1}};
  sift.describe(a, keypoints_of(corners, 2.5f), described, Angles::assign);
  expect(described.size() == 1, "describe");
  expect(affine_frame(described.keypoints[0]).a11 <= 2.5, "affine_frame");

  Matcher matcher(context);
  matcher.time_stages(true);
  const std::vector<Match> matches = matcher.match(first, second);
  const MatchPair both[] = {{first, second}, {second, first}};
  expect(matches.size() > 30 && matcher.match_batch(both).size() == 2 &&
             matcher.nearest(first, second).size() == first.size() &&
             !matcher.report().kernel.empty() && matcher.options().mutual,
         "Matcher");
  expect(one_per_place(matches, first.keypoints, second.keypoints).size() <= matches.size(),
         "one_per_place");

  RetrieveInput images;
  images.images = {{1, static_cast<int>(first.size())}, {2, static_cast<int>(second.size())}};
  images.read = [&](int image, std::vector<std::uint8_t>& out) {
    const std::vector<std::uint8_t>& from = (image == 0 ? first : second).descriptors;
    out.insert(out.end(), from.begin(), from.end());
  };
  RetrieveReport retrieved;
  expect(
      retrieve_pairs(context, images, {.words = 2}, &retrieved).size() <= 1 && retrieved.words == 2,
      "retrieve_pairs");

  std::istringstream lines("score,x1,y1,x2,y2\n1,2,3,4,5\n");
  expect(read_match_table(lines, "lines").matches.at(0) == Correspondence{2, 3, 4, 5},
         "read_match_table");

  const MatchedPoints points = make_matched_points({.count = 200, .outliers = 0.3, .seed = 4});
  FundamentalEstimator estimator(context, {.max_hypotheses = 5000});
  const FundamentalResult result = estimator.estimate(points.matches);
  expect(result.kind == TwoView::general && name(result.kind) == "general" &&
             !name(result.stop).empty() && !result.may_be_chance() &&
             estimator.options().max_hypotheses == 5000,
         "FundamentalEstimator");
  expect(epipolar_distance(eight_point(points.exact), points.exact[0]) < 0.1, "eight_point");
  expect(std::isfinite(transfer_distance({1, 0, 0, 0, 1, 0, 0, 0, 1}, points.exact[0])),
         "transfer");
  expect(!is_watermark(points.exact, {640, 480}, {640, 480}), "is_watermark");
  expect(validates(WatermarkOptions{}), "WatermarkOptions");
  expect(with_unit_corner({2, 0, 0, 0, 2, 0, 0, 0, 2})[0] == 1 && kPlaneWidth > 1, "H33 = 1");

  const Intrinsics pinhole = {500, 500, 320, 240};
  const std::array<double, 9> sideways = {0, 0, 0, 0, 0, -1, 0, 1, 0};
  expect(rotation_of({1, 0, 0, 0, 1, 0, 0, 0, 1}).degrees == 0 &&
             !epipoles_of(fundamental_of(sideways, {pinhole, pinhole})).first &&
             undistorted(pinhole, 3, 4) == std::array<double, 2>{3, 4},
         "relative pose");

  const std::vector<float> matrix = {2, 0, 0, 1};
  const std::vector<double> matrix_of_doubles = {2, 0, 0, 1};
  std::vector<float> s(2);
  std::vector<double> s_of_doubles(2);
  Svd svd(context);
  svd.compute<float>({2, 2, 1}, matrix, {}, s, {});
  svd.compute<double>({2, 2, 1}, matrix_of_doubles, {}, s_of_doubles, {});
  svd.enqueue<float>({2, 2, 1}, matrix.data(), nullptr, s.data(), nullptr);
  svd.enqueue<double>({2, 2, 1}, matrix_of_doubles.data(), nullptr, s_of_doubles.data(), nullptr);
  expect(s[0] == 2 && s_of_doubles[1] == 1 && svd.report().not_finite == 0, "Svd");

  PairPipeline pipeline(context, {.settings = {{"contrast", "0.03"}}, .max_features = 500});
  PairResult pair = pipeline.run(a, b);
  pipeline.run(a, b, pair);
  pipeline.run(a, b, PairMasks(), pair);
  pipeline.run(a, b, PairMasks(), IntrinsicsPair{{500, 500, 100, 100}, {500, 500, 100, 100}}, pair);
  expect(pair.two_view.has_value(), "PairPipeline with cameras");
  pipeline.run(a, b, pair);
  expect(pair.geometry.inlier_count > 20 && pair.correspondence(0).x1 > 0, "PairPipeline");
  FeatureExtractor extractor(context, "harris", {{"max-points", "50"}});
  extractor.extract(a, described);
  expect(extractor.descriptors_of(described).count == int(described.size()), "FeatureExtractor");
  expect(detector_table().size() == 4 && !filter_table().empty() && !estimator_table().empty() &&
             find_detector("sift").make_sift && find_filter("gaussian").make &&
             find_estimator("fundamental").make && !sift_flags({}).empty() &&
             !fundamental_flags({}).empty() && sift_options({{"root", "yes"}}, {}).root &&
             fundamental_options({{"seed", "3"}}).seed == 3 &&
             essential_options({{"seed", "3"}}).seed == 3 &&
             homography_options({{"seed", "3"}}).seed == 3,
         "catalog");

  write_image(folder + "/a.png", a);
  const auto colour = read_image<Rgb<std::uint8_t>>(folder + "/a.png");
  expect(probe_image(folder + "/a.png").format == "PNG" && can_read_extension("x.png") &&
             extension_in_lower_case("x.JPG") == ".jpg" &&
             read_gray(folder + "/a.png").width() == a.width() &&
             !read_photograph(folder + "/a.png").exif && !decode_exif({}) &&
             focal_pixels({.focal_35mm = 35}, 640, 480) == 640,
         "image files");
  const std::vector<std::uint8_t> jpeg = encode_jpeg(colour, 90);
  expect(decode_image<std::uint16_t>(jpeg, "x.jpg").width() == a.width(), "decode_image");
  expect(decode_gray(encode_image("x.png", a), "x.png").width() == a.width(), "encode_image");
  draw_corners(context, colour.host(), corners);
  draw_features(context, colour.host(), first.keypoints);
  draw_matches(context, colour.host(), colour.host(), first.keypoints, second.keypoints, matches);
  if constexpr (kHasPages) {
    const PairPage page{
        .first = {.name = "a", .pixels = colour.host(), .points = pair.first.keypoints},
        .second = {.name = "b", .pixels = colour.host(), .points = pair.second.keypoints},
        .matches = pair.matches,
        .geometry = &pair.geometry,
        .distances = pair.distances};
    expect(pair_page(context, page).starts_with("<!"), "pair_page");
    FolderPage photographs;
    find_components(photographs);
    expect(validates(FolderPageOptions{.most_images_in_one_file = 10}) &&
               folder_page(photographs).size() == 1 && folder_warnings(photographs).size() == 1,
           "folder_page");
  }
}

void folders(const Context& context, const std::vector<View>& views, const std::string& folder) {
  std::filesystem::create_directories(folder + "/photos");
  for (const View& view : views) write_image(folder + "/photos/" + view.name + ".png", view.image);
  expect(list_images(folder + "/photos").names.size() == views.size(), "list_images");
  expect(mask_of("masks", "a.jpg") == "masks/a.jpg.png", "mask_of");
  std::filesystem::remove(folder + "/photos.db");
  colmap::Database database(folder + "/photos.db", colmap::Database::Open::create);
  const ExtractReport extracted = extract_folder(context, folder + "/photos", database);
  expect(extracted.extracted == int(views.size()) && extracted.decode_share() >= 0,
         "extract_folder");
  expect(match_all(context, database).matched == 1, "match_all");
  expect(verify_all(context, database, {.min_inliers = 10}).pairs == 1, "verify_all");
  int records = 0;
  database.visit_records(
      [&](const colmap::ImageRecord& record) { records += record.features > 0; });
  expect(records == int(views.size()) && database.options_of_step("verify").size() == 1, "memory");
  expect(colmap::pair_of(colmap::pair_id({1, 2})).second == 2, "pair_id");
  const colmap::Camera camera = colmap::camera_of_image(640, 480, std::nullopt);
  expect(camera.width == 640, "camera_of_image");
  expect(colmap::intrinsics_of(camera).value().cx == 319.5, "intrinsics_of");
  expect(colmap::name_of_model(camera.model) == "SIMPLE_RADIAL", "name_of_model");
  expect(colmap::model_named("OPENCV") == colmap::CameraModel::opencv, "model_named");
  expect(colmap::parameter_count(colmap::CameraModel::radial) == 5, "parameter_count");
  expect(colmap::camera_words(640, 480, std::nullopt).empty(), "camera_words");
  expect(!colmap::pose_prior_of(std::nullopt).position, "pose_prior_of");
  expect(
      folder_sift_options().root && folder_two_view_options().fundamental.max_hypotheses == 10000,
      "defaults");
  expect(refuses([&] { read_pair_list("none.txt", database); }) || true, "read_pair_list");
  expect(validates(OverviewOptions{.most_lines = 10}) &&
             folder_overview(context, database, folder + "/photos").images.size() == views.size() &&
             database.pair_summaries().size() <= views.size(),
         "folder_overview");
  const ChosenPairs chosen = choose_pairs(context, folder + "/photos", database);
  expect(name(chosen.choice) == "all" && chosen.count == 1 &&
             further_pairs(database, chosen).empty() &&
             validates(ChoosePairsOptions{.choice = PairChoice::spatial}),
         "choose_pairs");
  FolderOptions whole;
  whole.verify.min_inliers = 10;
  const FolderReport report = run_folder(context, folder + "/photos", database, whole);
  expect(validates(whole) && !report.did_something() && report.failures() == 0 &&
             report.further() == 0 && name(report.reached) == "verify",
         "run_folder");
}

// Points of another program: one in the middle of every view.
void imports(const std::vector<View>& views, const std::string& folder) {
  std::filesystem::create_directories(folder + "/points");
  for (const View& view : views) {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n";
    std::ofstream out(folder + "/points/" + view.name + ".png.npy", std::ios::binary);
    out.write("\x93NUMPY\x01\0", 8).put(char(header.size())).put(0) << header;
    const float point[] = {float(view.image.width()) / 2, float(view.image.height()) / 2};
    out.write(reinterpret_cast<const char*>(point), sizeof point);
  }
  std::filesystem::remove(folder + "/imported.db");
  colmap::Database database(folder + "/imported.db", colmap::Database::Open::create);
  const ImportOptions options{.keypoints = folder + "/points", .images = folder + "/photos"};
  const ImportReport features = import_features(database, options);
  expect(validates(options) && features.imported == int(views.size()) && features.failed == 0 &&
             images_with_points(folder + "/points").size() == views.size() &&
             import_features(database, options).skipped == int(views.size()),
         "import_features");
  std::istringstream matches(views[0].name + ".png " + views[1].name + ".png\n0 0\n");
  expect(import_matches(database, matches, "matches").matched == 1 &&
             database.matches(colmap::pair_id({1, 2})).size() == 1,
         "import_matches");
}

void shards(const Context& context, const std::string& folder) {
  const std::string photos = folder + "/photos", work = folder + "/work";
  const ShardPlan plan = plan_shards(photos, {}, 1);
  write_shard_plan(work, plan);
  expect(read_shard_plan(work).key() == plan.key() && plan.shards() == 2 && validates(plan),
         "plan_shards");
  std::ofstream(folder + "/list.txt") << "200 b.png" << std::endl << "100 a.png" << std::endl;
  expect(plan_listed_shards("s3://photos", folder + "/list.txt").images.front().name == "a.png",
         "plan_listed_shards");
  ShardOptions options;
  options.local = folder;
  bool named = true;
  for (int step = 0; step < kShardSteps; ++step) {
    named = named && !name(ShardStep(step)).empty();
    for (int k = 1; k <= count_items(work, plan, ShardStep(step), options); ++k) {
      run_shard_item(context, work, {ShardStep(step), k}, options);
    }
  }
  expect(named && shard_status(work, options).done() && validates(options), "run_shard_item");
  expect(shard_traffic(work, options).size() == std::size_t(kShardSteps), "shard_traffic");
  expect(merge_shards(work, folder + "/merged.db", options, MergeOptions{}).images == 2,
         "merge_shards");
}

void scenes(const Context& context, const std::vector<View>& views, const SceneOptions& options) {
  const Camera &a = views[0].camera, &b = views[1].camera;
  expect(std::isfinite(fundamental(a, b).norm()), "fundamental");
  expect(make_view(context, options, 0).name == "view_000" && scene_cameras(options).size() == 2 &&
             !scene_plane(options) && scene_kind(name(options.kind)) == options.kind,
         "scenes");
  const Degraded degraded = degrade(context, views[0].image.host(), {.blur = 1});
  expect(degraded.image.width() == views[0].image.width(), "degrade");
  expect(checkerboard(context, {}).corners.size() > 4, "checkerboard");
  const Plane plane = *scene_plane({.kind = SceneKind::plane});
  expect(std::isfinite(plane_homography(a, b, plane).norm()), "plane_homography");
}

}  // namespace

int main(int, char** argv) {
  const std::string folder = argv[1];
  const Context context = Context::cpu(2);
  expect(Context::from_name("cpu", 2).name() == context.name() && !context.description().empty() &&
             context.memory().bytes == 0 && context.transfers().uploads == 0,
         "Context");
  std::string why;
  expect(!cuda_devices(&why).empty() || !why.empty(), "cuda_devices");
  options_with_some_members();
  const SceneOptions options{.views = 2, .width = 320, .height = 240, .samples = 2};
  const std::vector<View> views = make_views(context, options);
  filters_and_detectors(context, views[0].image);
  features_and_geometry(context, views, folder);
  folders(context, views, folder);
  imports(views, folder);
  shards(context, folder);
  scenes(context, views, options);
  std::cout << kVersion << ", " << failures << " failures\n";
  return failures == 0 ? 0 : 1;
}
