// Everything that Cornea offers, in the order in which the data moves.
#pragma once

#include "cornea/core/build.h"
#include "cornea/core/context.h"
#include "cornea/core/error.h"
#include "cornea/core/features.h"
#include "cornea/core/image.h"
#include "cornea/core/transfer.h"
#include "cornea/detect/foagdd/foagdd.h"
#include "cornea/detect/harris/harris.h"
#include "cornea/detect/moravec/moravec.h"
#include "cornea/filter/gaussian/gaussian.h"
#include "cornea/io/image_file.h"
#include "cornea/pipeline/detectors.h"
#include "cornea/report/draw.h"
#include "cornea/scene/scene.h"
