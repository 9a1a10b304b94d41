"""How programs are linked and compiled where their memory counts."""

# Debian has each as a shared library and as an archive.
ABSL_LIBRARIES = [
    "absl_bad_any_cast_impl",
    "absl_bad_optional_access",
    "absl_bad_variant_access",
    "absl_base",
    "absl_city",
    "absl_civil_time",
    "absl_cord",
    "absl_cord_internal",
    "absl_cordz_functions",
    "absl_cordz_handle",
    "absl_cordz_info",
    "absl_cordz_sample_token",
    "absl_debugging_internal",
    "absl_demangle_internal",
    "absl_examine_stack",
    "absl_exponential_biased",
    "absl_failure_signal_handler",
    "absl_graphcycles_internal",
    "absl_hash",
    "absl_hashtablez_sampler",
    "absl_int128",
    "absl_leak_check",
    "absl_log_severity",
    "absl_low_level_hash",
    "absl_malloc_internal",
    "absl_periodic_sampler",
    "absl_random_distributions",
    "absl_random_internal_distribution_test_util",
    "absl_random_internal_platform",
    "absl_random_internal_pool_urbg",
    "absl_random_internal_randen",
    "absl_random_internal_randen_hwaes",
    "absl_random_internal_randen_hwaes_impl",
    "absl_random_internal_randen_slow",
    "absl_random_internal_seed_material",
    "absl_random_seed_gen_exception",
    "absl_random_seed_sequences",
    "absl_raw_hash_set",
    "absl_raw_logging_internal",
    "absl_scoped_set_env",
    "absl_spinlock_wait",
    "absl_stacktrace",
    "absl_status",
    "absl_statusor",
    "absl_str_format_internal",
    "absl_strerror",
    "absl_strings",
    "absl_strings_internal",
    "absl_symbolize",
    "absl_synchronization",
    "absl_throw_delegate",
    "absl_time",
    "absl_time_zone",
]

# Linkopts of a program whose memory counts, and none of whose shared libraries needs Abseil or
# yaml-cpp: as two dozen shared libraries they cost it 0.8 MB.
ARCHIVES = (["-Wl,--start-group"] +
            ["-l:lib" + name + ".a" for name in ABSL_LIBRARIES + ["yaml-cpp"]] +
            ["-Wl,--end-group", "-Wl,--as-needed"])

# Copts where a library of templates (Beast, CLI11) makes much code of which little ever runs.
SMALL = ["-Os"]
