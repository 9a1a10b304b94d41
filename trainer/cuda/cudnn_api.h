// The functions and numbers of cuDNN's backend that are used, as its headers cudnn_graph.h and
// cudnn_version.h have them: releases 9.6 and later of libcudnn.so.9, whose interface only grows.
//
// Declared here, since the headers come with the library only. Handles and descriptors are pointers
// to what is the library's, results cudnnStatus_t as numbers, streams those of the driver.
//
// A descriptor is made, given attributes, and finalized; from then on it can be asked, and given to
// others as an attribute. What is given to a descriptor that is asked for descriptors are such of
// the type, not finalized, which the library fills.
//
// Ownership: none. Threads: of a handle one at a time; a descriptor likewise. Errors: numbers,
// which Cudnn::Check puts into words.

#ifndef TRAINER_CUDA_CUDNN_API_H_
#define TRAINER_CUDA_CUDNN_API_H_

#include <cstddef>
#include <cstdint>

#include "trainer/cuda/driver_api.h"

namespace taas::cuda {

using CudnnHandle = struct CudnnContextOf*;
using CudnnDescriptorHandle = void*;

// cudnnStatus_t: thousands are what it is about.
inline constexpr int kCudnnSuccess = 0, kCudnnVersionMismatch = 1002,
                     kCudnnSerializationMismatch = 1003, kCudnnLoadingFailed = 1008,
                     kCudnnBadParam = 2000, kCudnnNullPointer = 2002, kCudnnMisaligned = 2003,
                     kCudnnNotFinalized = 2004, kCudnnOutOfBound = 2005,
                     kCudnnSizeInsufficient = 2006, kCudnnStreamMismatch = 2007,
                     kCudnnShapeMismatch = 2008, kCudnnDuplicated = 2009,
                     kCudnnAttributeType = 2010, kCudnnDescriptorType = 2012,
                     kCudnnNotSupported = 3000, kCudnnUnsupportedShape = 3002,
                     kCudnnUnsupportedLayout = 3004, kCudnnPrerequisiteMissing = 3008,
                     kCudnnSublibraryUnavailable = 3009, kCudnnUnsupportedPadding = 3011,
                     kCudnnInternal = 4000, kCudnnDeviceAllocationFailed = 4004,
                     kCudnnExecutionFailed = 5000;

// cudnnDataType_t, cudnnConvolutionMode_t, cudnnPointwiseMode_t, cudnnReduceTensorOp_t,
// cudnnBackendHeurMode_t.
inline constexpr int kCudnnFloat = 0, kCudnnBFloat16 = 9;
inline constexpr int kCudnnCrossCorrelation = 1;
inline constexpr int kCudnnMul = 1, kCudnnSub = 9, kCudnnExp = 13, kCudnnGreaterOrEqual = 303;
inline constexpr int kCudnnReduceAdd = 0;
inline constexpr int kCudnnHeuristicsB = 1, kCudnnHeuristicsA = 3;

// cudnnBackendNumericalNote_t: what an engine does with numbers.
inline constexpr int kCudnnTensorCore = 0, kCudnnDownConvertsInputs = 1,
                     kCudnnReducedPrecisionSums = 2, kCudnnFft = 3, kCudnnNotDeterministic = 4,
                     kCudnnWinograd = 5, kCudnnWinograd4x4 = 6, kCudnnWinograd6x6 = 7,
                     kCudnnWinograd13x13 = 8;
// More than there are.
inline constexpr int64_t kCudnnNotesMax = 32;

// cudnnBackendAttributeType_t.
inline constexpr int kCudnnOfHandle = 0, kCudnnOfDataType = 1, kCudnnOfBool = 2, kCudnnOfInt64 = 3,
                     kCudnnOfFloat = 4, kCudnnOfPointer = 6, kCudnnOfConvolutionMode = 7,
                     kCudnnOfHeuristicsMode = 8, kCudnnOfNote = 11, kCudnnOfPointwiseMode = 14,
                     kCudnnOfDescriptor = 15, kCudnnOfReduction = 18, kCudnnOfChar = 24;

// cudnnBackendDescriptorType_t.
enum class CudnnType : int {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kBackwardFilter = 11,
  kBackwardData = 12,
  kPointwiseOperation = 13,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmul = 18,
  kMatmulOperation = 19,
  kReduction = 21,
  kReductionOperation = 22,
  kReshape = 31,
  // From 9.21 on with all that is used of them.
  kAttention = 41,
  kBandMask = 44,
  kSoftmax = 45,
};

// cudnnBackendAttributeName_t.
enum class CudnnAttribute : int {
  kPointwiseMode = 0,
  kPointwiseMathPrecision = 1,
  kConvolutionComputeType = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPostPaddings = 104,
  kConvolutionPrePaddings = 105,
  kConvolutionSpatialDims = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kEngineConfigEngine = 300,
  kPlanHandle = 400,
  kPlanEngineConfig = 401,
  kPlanWorkspaceSize = 402,
  kPlanJson = 405,
  // Of a forward operation; those of the other two follow in the same order.
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kBackwardDataAlpha = 706,
  kBackwardDataBeta = 707,
  kBackwardDataConvolution = 708,
  kBackwardDataW = 709,
  kBackwardDataDx = 710,
  kBackwardDataDy = 711,
  kBackwardFilterAlpha = 712,
  kBackwardFilterBeta = 713,
  kBackwardFilterConvolution = 714,
  kBackwardFilterDw = 715,
  kBackwardFilterX = 716,
  kBackwardFilterDy = 717,
  kPointwiseDescriptor = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorDataType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorIsVirtual = 907,
  kTensorIsByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1303,
  kMatmulComputeType = 1500,
  kMatmulA = 1520,
  kMatmulB = 1521,
  kMatmulC = 1522,
  kMatmulDescriptor = 1523,
  kReductionOperator = 1600,
  kReductionComputeType = 1601,
  kReductionX = 1610,
  kReductionY = 1611,
  kReductionDescriptor = 1612,
  kReshapeX = 2200,
  kReshapeY = 2201,
  kAttentionQ = 2800,
  kAttentionK = 2801,
  kAttentionV = 2802,
  kAttentionO = 2803,
  kAttentionScale = 2805,
  kAttentionSubgraph = 2811,
  kAttentionSubgraphInput = 2812,
  kAttentionSubgraphOutput = 2813,
  kAttentionSoftmax = 2814,
  kMaskX = 3000,
  kMaskFill = 3005,
  kMaskY = 3006,
  kMaskComparison = 3007,
  kSoftmaxX = 3100,
  kSoftmaxY = 3101,
  kSoftmaxStatistics = 3102,
};

struct CudnnApi {
  size_t (*GetVersion)();
  const char* (*GetErrorString)(int status);
  // Of the last error of the calling thread, from which it goes.
  void (*GetLastErrorString)(char* message, size_t bytes_max);
  // For the device whose context is current.
  int (*Create)(CudnnHandle* handle);
  int (*Destroy)(CudnnHandle handle);
  int (*SetStream)(CudnnHandle handle, CuStream stream);
  int (*BackendCreateDescriptor)(int type, CudnnDescriptorHandle* descriptor);
  int (*BackendDestroyDescriptor)(CudnnDescriptorHandle descriptor);
  int (*BackendSetAttribute)(CudnnDescriptorHandle descriptor, int attribute, int type,
                             int64_t count, const void* elements);
  // `got`: how many there are; of them at most `count` are written.
  int (*BackendGetAttribute)(CudnnDescriptorHandle descriptor, int attribute, int type,
                             int64_t count, int64_t* got, void* elements);
  int (*BackendFinalize)(CudnnDescriptorHandle descriptor);
  // Launches into the handle's stream, or into what that captures.
  int (*BackendExecute)(CudnnHandle handle, CudnnDescriptorHandle plan,
                        CudnnDescriptorHandle pack);
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CUDNN_API_H_
