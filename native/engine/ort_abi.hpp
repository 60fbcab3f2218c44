// The part of ONNX Runtime's C interface that the engine calls, written by hand, since the onnxruntime wheel ships the
// library without its headers. The interface is one table of function pointers that is only ever appended to, so an
// entry's place never changes; gaps stand for entries that are not called. A wrong place would be a crash, so each
// group's place is asserted below, and Library checks the library's version before it touches the table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidewise::ort_abi {

struct Allocator;
struct Env;
struct MemoryInfo;
struct RunOptions;
struct Session;
struct SessionOptions;
struct Status;
struct TensorInfo;
struct Value;

using Entry = const void*;  // one place in the table, of a function that is not called

constexpr std::uint32_t kApiVersion = 16;  // the oldest interface asked for; every later library also answers to it
constexpr int kLogFatal = 4;
constexpr int kArenaAllocator = 1;
constexpr int kDefaultMemory = 0;

// Element types, in ONNX Runtime's numbering.
enum class Type : int {
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
};

struct Api {
  Entry gap_0[2];
  const char* (*get_error_message)(const Status*);
  Status* (*create_env)(int log_level, const char* name, Env**);
  Entry gap_4[3];
  Status* (*create_session)(const Env*, const char* path, const SessionOptions*, Session**);
  Entry gap_8;
  Status* (*run)(Session*, const RunOptions*, const char* const* input_names, const Value* const* inputs,
                 std::size_t input_count, const char* const* output_names, std::size_t output_count, Value** outputs);
  Status* (*create_session_options)(SessionOptions**);
  Entry gap_11[6];
  Status* (*disable_memory_pattern)(SessionOptions*);
  Entry gap_18[4];
  Status* (*set_log_level)(SessionOptions*, int log_level);
  Entry gap_23;
  Status* (*set_intra_op_threads)(SessionOptions*, int threads);
  Status* (*set_inter_op_threads)(SessionOptions*, int threads);
  Entry gap_26[4];
  Status* (*input_count)(const Session*, std::size_t*);
  Status* (*output_count)(const Session*, std::size_t*);
  Entry gap_32[4];
  Status* (*input_name)(const Session*, std::size_t index, Allocator*, char**);
  Status* (*output_name)(const Session*, std::size_t index, Allocator*, char**);
  Entry gap_38[11];
  Status* (*create_tensor_with_data)(const MemoryInfo*, void* data, std::size_t bytes, const std::int64_t* shape,
                                     std::size_t rank, Type, Value**);
  Status* (*is_tensor)(const Value*, int*);
  Status* (*tensor_data)(Value*, void**);
  Entry gap_52[8];
  Status* (*element_type)(const TensorInfo*, Type*);
  Status* (*rank)(const TensorInfo*, std::size_t*);
  Status* (*shape)(const TensorInfo*, std::int64_t*, std::size_t rank);
  Entry gap_63[2];
  Status* (*tensor_info)(const Value*, TensorInfo**);
  Entry gap_66[3];
  Status* (*create_cpu_memory_info)(int allocator, int memory, MemoryInfo**);
  Entry gap_70[6];
  Status* (*free)(Allocator*, void*);
  Entry gap_77;
  Status* (*default_allocator)(Allocator**);
  Entry gap_79[13];
  void (*release_env)(Env*);
  void (*release_status)(Status*);
  void (*release_memory_info)(MemoryInfo*);
  void (*release_session)(Session*);
  void (*release_value)(Value*);
  Entry gap_97[2];
  void (*release_tensor_info)(TensorInfo*);
  void (*release_session_options)(SessionOptions*);
  Entry gap_101[29];
  Status* (*add_session_config_entry)(SessionOptions*, const char* key, const char* value);
};

constexpr std::size_t place(std::size_t offset) { return offset / sizeof(Entry); }
static_assert(place(offsetof(Api, run)) == 9);
static_assert(place(offsetof(Api, disable_memory_pattern)) == 17);
static_assert(place(offsetof(Api, set_log_level)) == 22);
static_assert(place(offsetof(Api, set_intra_op_threads)) == 24);
static_assert(place(offsetof(Api, input_count)) == 30);
static_assert(place(offsetof(Api, input_name)) == 36);
static_assert(place(offsetof(Api, create_tensor_with_data)) == 49);
static_assert(place(offsetof(Api, element_type)) == 60);
static_assert(place(offsetof(Api, tensor_info)) == 65);
static_assert(place(offsetof(Api, create_cpu_memory_info)) == 69);
static_assert(place(offsetof(Api, free)) == 76);
static_assert(place(offsetof(Api, default_allocator)) == 78);
static_assert(place(offsetof(Api, release_env)) == 92);
static_assert(place(offsetof(Api, release_tensor_info)) == 99);
static_assert(place(offsetof(Api, add_session_config_entry)) == 130);

struct ApiBase {
  const Api* (*get_api)(std::uint32_t version);
  const char* (*version)();
};

}  // namespace tidewise::ort_abi
