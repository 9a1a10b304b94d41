#include "tools/tidy/header_names.h"

namespace taas::tidy {
namespace {

// Names that come together. Names that several headers have by the standard (std::get, std::begin,
// std::erase_if, size_t) are left out.
struct Group {
  const char* id;  // For kBrings: the header, and behind a colon which of its names.
  const char* scope;
  const char* names;
};

constexpr Group kGroups[] = {
    {"algorithm", "std::",
     "adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count "
     "count_if equal equal_range fill fill_n find find_end find_first_of find_if find_if_not "
     "for_each for_each_n generate generate_n includes inplace_merge is_heap is_partitioned "
     "is_permutation is_sorted is_sorted_until iter_swap lexicographical_compare lower_bound "
     "make_heap max max_element merge min min_element minmax minmax_element mismatch "
     "next_permutation none_of nth_element partial_sort partition partition_copy partition_point "
     "pop_heap prev_permutation push_heap remove_copy remove_copy_if remove_if replace "
     "replace_copy replace_if reverse reverse_copy rotate rotate_copy search search_n "
     "set_difference set_intersection set_union shift_left shift_right shuffle sort sort_heap "
     "stable_partition stable_sort swap_ranges transform unique unique_copy upper_bound"},
    {"algorithm", "std::ranges::",
     "adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count "
     "count_if equal equal_range fill fill_n find find_end find_first_of find_if find_if_not "
     "for_each for_each_n generate generate_n includes inplace_merge is_heap is_partitioned "
     "is_permutation is_sorted is_sorted_until lexicographical_compare lower_bound make_heap max "
     "max_element merge min min_element minmax minmax_element mismatch none_of nth_element "
     "partial_sort partition partition_copy partition_point pop_heap push_heap remove remove_copy "
     "remove_copy_if remove_if replace replace_copy replace_if reverse reverse_copy rotate "
     "rotate_copy search search_n set_difference set_intersection set_union shuffle sort "
     "sort_heap stable_partition stable_sort swap_ranges transform unique unique_copy "
     "upper_bound"},
    {"array", "std::", "array to_array"},
    {"atomic", "std::",
     "atomic atomic_bool atomic_flag atomic_int atomic_ref atomic_signal_fence "
     "atomic_thread_fence memory_order memory_order_acq_rel memory_order_acquire "
     "memory_order_relaxed memory_order_release memory_order_seq_cst"},
    {"bit", "std::",
     "bit_cast bit_ceil bit_floor bit_width countl_one countl_zero countr_one countr_zero endian "
     "has_single_bit popcount rotl rotr"},
    {"cctype", "std::",
     "isalnum isalpha isdigit islower isprint ispunct isspace isupper isxdigit tolower toupper"},
    {"cerrno", "", "errno"},
    {"chrono", "std::", "chrono chrono_literals"},
    {"climits", "", "CHAR_BIT INT_MAX INT_MIN LLONG_MAX LONG_MAX PATH_MAX UINT_MAX ULLONG_MAX"},
    {"cmath", "std::",
     "acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma "
     "fmax fmin fmod frexp hypot isfinite isinf isnan isnormal ldexp lgamma llround log log10 "
     "log1p log2 lround modf nan nanf nearbyint nextafter pow remainder rint round signbit sin "
     "sinh sqrt tan tanh tgamma trunc"},
    {"compare", "std::", "partial_ordering strong_ordering weak_ordering"},
    {"condition_variable", "std::", "condition_variable condition_variable_any cv_status"},
    {"cstddef", "std::", "byte max_align_t nullptr_t ptrdiff_t size_t to_integer"},
    {"cstddef", "", "offsetof ptrdiff_t"},
    {"cstdint", "std::",
     "int16_t int32_t int64_t int8_t intmax_t intptr_t uint16_t uint32_t uint64_t uint8_t "
     "uintmax_t uintptr_t"},
    {"cstdint", "",
     "INT16_MAX INT16_MIN INT32_MAX INT32_MIN INT64_MAX INT64_MIN INT8_MAX INT8_MIN UINT16_MAX "
     "UINT32_MAX UINT64_MAX UINT8_MAX int16_t int32_t int64_t int8_t intmax_t intptr_t uint16_t "
     "uint32_t uint64_t uint8_t uintmax_t uintptr_t"},
    {"cstdio", "std::",
     "FILE fclose feof ferror fflush fgets fopen fprintf fputc fputs fread fscanf fseek "
     "ftell fwrite perror printf putchar puts rename rewind setvbuf snprintf sscanf "
     "vfprintf vsnprintf"},
    {"cstdlib", "std::",
     "_Exit abort aligned_alloc atexit atof atoi atol atoll calloc div exit free getenv malloc "
     "qsort quick_exit realloc strtod strtof strtol strtold strtoll strtoul strtoull system"},
    {"cstring", "std::",
     "memchr memcmp memcpy memmove memset strcat strchr strcmp strcpy strcspn strerror strlen "
     "strncmp strncpy strpbrk strrchr strspn strstr strtok"},
    {"cstring", "", "memchr memcmp memcpy memmove memset strcmp strerror strlen strncmp strncpy"},
    {"ctime", "std::",
     "asctime clock_t ctime difftime gmtime localtime mktime strftime time_t tm"},
    {"deque", "std::", "deque"},
    {"exception", "std::",
     "current_exception exception exception_ptr make_exception_ptr rethrow_exception set_terminate "
     "terminate uncaught_exceptions"},
    {"functional", "std::",
     "bad_function_call bind bind_front bit_and bit_or bit_xor cref divides equal_to function "
     "greater greater_equal hash identity invoke less less_equal logical_and logical_not "
     "logical_or mem_fn minus modulus multiplies negate not_equal_to not_fn placeholders plus ref "
     "reference_wrapper"},
    {"initializer_list", "std::", "initializer_list"},
    {"iostream", "std::", "cerr cin clog cout"},
    {"iterator", "std::",
     "advance back_insert_iterator back_inserter distance front_inserter inserter "
     "istreambuf_iterator iterator_traits make_move_iterator make_reverse_iterator move_iterator "
     "next prev reverse_iterator ssize"},
    {"limits", "std::", "numeric_limits"},
    {"list", "std::", "list"},
    {"map", "std::", "map multimap"},
    {"memory", "std::",
     "addressof align allocate_shared allocator allocator_traits bad_weak_ptr "
     "const_pointer_cast construct_at default_delete destroy_at dynamic_pointer_cast "
     "enable_shared_from_this make_shared make_unique make_unique_for_overwrite owner_less "
     "shared_ptr static_pointer_cast to_address uninitialized_copy uninitialized_fill unique_ptr "
     "weak_ptr"},
    {"mutex", "std::",
     "adopt_lock call_once defer_lock lock lock_guard mutex once_flag recursive_mutex scoped_lock "
     "timed_mutex try_lock try_to_lock unique_lock"},
    {"new", "std::",
     "align_val_t bad_alloc hardware_destructive_interference_size launder nothrow nothrow_t "
     "set_new_handler"},
    {"numbers", "std::", "numbers"},
    {"numeric", "std::",
     "accumulate adjacent_difference exclusive_scan gcd inclusive_scan inner_product iota lcm "
     "midpoint partial_sum reduce transform_reduce"},
    {"optional", "std::", "bad_optional_access make_optional nullopt nullopt_t optional"},
    {"ostream", "std::", "endl flush"},
    {"ostream:name", "std::", "ostream"},
    {"ratio", "std::", "giga kilo mega micro milli nano ratio"},
    {"semaphore", "std::", "binary_semaphore counting_semaphore"},
    {"set", "std::", "multiset set"},
    {"span", "std::", "as_bytes as_writable_bytes dynamic_extent span"},
    {"sstream", "std::", "istringstream ostringstream stringbuf stringstream"},
    {"stdexcept", "std::",
     "domain_error invalid_argument length_error logic_error out_of_range overflow_error "
     "range_error runtime_error underflow_error"},
    {"stop_token", "std::", "stop_callback stop_source stop_token"},
    {"string", "std::",
     "basic_string char_traits getline stod stof stoi stol stold stoll stoul stoull string "
     "string_literals to_string to_wstring u16string u32string u8string wstring"},
    {"string_view", "std::", "basic_string_view string_view string_view_literals"},
    {"system_error:errc", "std::", "errc"},
    {"system_error", "std::",
     "error_category error_code error_condition generic_category make_error_code "
     "system_category system_error"},
    {"thread", "std::", "jthread this_thread thread"},
    {"tuple", "std::",
     "apply forward_as_tuple ignore make_from_tuple make_tuple tie tuple tuple_cat"},
    {"type_traits", "std::",
     "add_const_t add_pointer_t bool_constant common_type_t conditional_t decay_t enable_if_t "
     "false_type integral_constant invoke_result_t is_arithmetic_v is_base_of_v is_const_v "
     "is_constant_evaluated is_constructible_v is_convertible_v is_enum_v is_floating_point_v "
     "is_integral_v is_invocable_r_v is_invocable_v is_move_constructible_v "
     "is_nothrow_move_constructible_v is_pointer_v is_same is_same_v is_signed_v is_trivial_v "
     "is_trivially_copyable_v is_unsigned_v is_void_v make_signed_t make_unsigned_t "
     "remove_const_t remove_cvref_t remove_pointer_t remove_reference_t true_type "
     "type_identity_t underlying_type_t void_t"},
    {"unordered_map", "std::", "unordered_map unordered_multimap"},
    {"unordered_set", "std::", "unordered_multiset unordered_set"},
    {"utility", "std::",
     "as_const cmp_equal cmp_greater cmp_greater_equal cmp_less cmp_less_equal exchange in_range"},
    {"utility:moving", "std::",
     "declval forward in_place in_place_index in_place_index_t in_place_t in_place_type "
     "in_place_type_t index_sequence index_sequence_for integer_sequence make_index_sequence "
     "make_integer_sequence make_pair move move_if_noexcept pair piecewise_construct swap"},
    {"variant", "std::",
     "bad_variant_access get_if holds_alternative monostate variant variant_alternative_t "
     "variant_size_v visit"},
    {"vector", "std::", "vector"},
    {"unistd.h", "::",
     "_exit access chdir close dup dup2 execv execve execvp fdatasync fork fsync ftruncate "
     "getpid getppid gethostname isatty lseek pipe pipe2 pread pwrite read readlink rmdir setsid "
     "sysconf unlink usleep write"},
    {"unistd.h", "", "STDERR_FILENO STDIN_FILENO STDOUT_FILENO"},
    {"absl/functional/function_ref.h", "absl::", "FunctionRef"},
    {"absl/status/status.h", "absl::",
     "AbortedError AlreadyExistsError CancelledError DataLossError DeadlineExceededError "
     "FailedPreconditionError InternalError InvalidArgumentError IsAborted IsAlreadyExists "
     "IsCancelled IsDataLoss IsDeadlineExceeded IsFailedPrecondition IsInternal "
     "IsInvalidArgument IsNotFound IsOutOfRange IsPermissionDenied IsResourceExhausted "
     "IsUnauthenticated IsUnavailable IsUnimplemented IsUnknown NotFoundError OkStatus "
     "OutOfRangeError PermissionDeniedError ResourceExhaustedError Status StatusCode "
     "StatusCodeToString UnauthenticatedError UnavailableError UnimplementedError UnknownError"},
    {"absl/status/statusor.h", "absl::", "StatusOr"},
    {"absl/strings/cord.h", "absl::", "Cord"},
    {"absl/strings/numbers.h", "absl::", "SimpleAtob SimpleAtod SimpleAtof SimpleAtoi"},
    {"absl/strings/string_view.h", "absl::", "string_view"},
    {"gtest/gtest.h", "",
     "ADD_FAILURE ASSERT_DOUBLE_EQ ASSERT_EQ ASSERT_FALSE ASSERT_FLOAT_EQ ASSERT_GE ASSERT_GT "
     "ASSERT_LE ASSERT_LT ASSERT_NE ASSERT_NEAR ASSERT_NO_FATAL_FAILURE ASSERT_STREQ ASSERT_TRUE "
     "EXPECT_DEATH EXPECT_DOUBLE_EQ EXPECT_EQ EXPECT_EXIT EXPECT_FALSE EXPECT_FLOAT_EQ EXPECT_GE "
     "EXPECT_GT EXPECT_LE EXPECT_LT EXPECT_NE EXPECT_NEAR EXPECT_NO_FATAL_FAILURE EXPECT_STREQ "
     "EXPECT_TRUE FAIL GTEST_SKIP INSTANTIATE_TEST_SUITE_P SCOPED_TRACE SUCCEED TEST TEST_F TEST_P "
     "TYPED_TEST TYPED_TEST_SUITE"},
    {"gtest/gtest.h", "testing::",
     "AssertionFailure AssertionResult AssertionSuccess Bool Combine ExitedWithCode "
     "InitGoogleTest KilledBySignal PrintToString Range TempDir Test TestInfo TestParamInfo "
     "TestWithParam UnitTest Values ValuesIn WithParamInterface"},
    {"gmock/gmock.h", "",
     "ASSERT_THAT EXPECT_CALL EXPECT_THAT MATCHER MATCHER_P MATCHER_P2 MOCK_METHOD ON_CALL"},
    {"gmock/gmock.h", "testing::",
     "AllOf AllOfArray AnyOf AnyOfArray AtLeast AtMost BeginEndDistanceIs Contains ContainsRegex "
     "DescribeMatcher DoAll DoubleEq DoubleNear Each ElementsAre ElementsAreArray EndsWith Eq "
     "ExplainMatchResult Field FieldsAre FloatEq FloatNear Ge Gt HasSubstr InSequence Invoke "
     "IsEmpty IsFalse IsNan IsNull IsSubsetOf IsSupersetOf IsTrue Key Le Lt MatchesRegex Ne "
     "NiceMock Not NotNull Optional Pair Pointee Pointwise Property Return SizeIs StartsWith StrEq "
     "StrictMock Throw Truly UnorderedElementsAre UnorderedElementsAreArray UnorderedPointwise "
     "VariantWith WhenSorted"},
};

// What headers bring beside their own names: libstdc++ 12 and Abseil 20220623, each pair shown to
// the compiler. Only those are here that the standard demands or that every library has: a pair
// that is absent costs one include line, one that is wrong lets a missing include pass.
struct Bringing {
  const char* header;
  const char* ids;
};

// Containers have move constructors, iterators, lists to begin with and <=>.
constexpr const char* kContainer = "compare initializer_list iterator utility:moving";

constexpr Bringing kBrings[] = {
    // All that <utility> has comes with it; <system_error> likewise.
    {"utility", "compare initializer_list utility:moving"},
    {"system_error", "system_error:errc"},
    {"array", kContainer},
    {"deque", kContainer},
    {"list", kContainer},
    {"map", kContainer},
    {"set", kContainer},
    {"span", kContainer},
    {"string", kContainer},
    {"string_view", kContainer},
    {"unordered_map", kContainer},
    {"unordered_set", kContainer},
    {"vector", kContainer},
    {"functional", "utility:moving"},
    {"memory", "utility:moving"},
    {"tuple", "utility:moving"},
    {"string", "string_view"},  // Converts to it.
    {"charconv", "system_error:errc"},
    {"filesystem", "system_error system_error:errc"},
    {"chrono", "ratio"},
    // The streams of files and texts are streams; a reference to one needs its name only.
    {"iosfwd", "ostream:name"},
    {"ostream", "ostream:name"},
    {"fstream", "ostream ostream:name"},
    {"iostream", "ostream ostream:name"},
    {"sstream", "ostream ostream:name"},
    // Its interface has them.
    {"absl/status/status.h", "absl/strings/cord.h absl/strings/string_view.h"},
    {"absl/status/statusor.h",
     "absl/status/status.h absl/strings/cord.h absl/strings/string_view.h"},
    {"gmock/gmock.h", "gtest/gtest.h"},
};

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = text.find(' ');
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

// Headers of C and C++ and of the system stand in angle brackets, those of others in quotes.
std::string IncludeOf(const std::string& header) {
  const bool has_folder = header.find('/') != std::string::npos;
  return has_folder ? '"' + header + '"' : '<' + header + '>';
}

}  // namespace

HeaderNames::HeaderNames() {
  std::map<std::string, size_t, std::less<>> groups;  // By id.
  for (const Group& group : kGroups) {
    const std::string id = group.id;
    const std::string header = id.substr(0, id.find(':'));
    const auto [known, is_new] = groups.emplace(id, headers_.size());
    const size_t number = known->second;
    if (is_new) headers_.push_back(IncludeOf(header));
    if (id == header) brought_[header].insert(number);
    for (const std::string& name : Words(group.names)) names_.emplace(group.scope + name, number);
  }
  for (const Bringing& row : kBrings) {
    for (const std::string& id : Words(row.ids)) brought_[row.header].insert(groups.at(id));
  }
}

std::optional<size_t> HeaderNames::Find(std::string_view name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  return found->second;
}

const std::set<size_t>& HeaderNames::BroughtBy(std::string_view header) const {
  static const std::set<size_t> nothing;
  const auto found = brought_.find(header);
  return found == brought_.end() ? nothing : found->second;
}

}  // namespace taas::tidy
