"""Tests that take several seconds each, and run by night: a faster test of the idea runs every day.

A test is named by its file's and its function's name, with all of its cases.
"""

# ruff: noqa: E501  (the names of tests)
NIGHTLY = frozenset({
    ("test_declared", "test_false_alarms_are_as_rare_as_stated"),
    ("test_declared", "test_a_mechanism_s_own_algorithm_draws_from_the_law_of_its_table"),
    ("test_merge_command", "test_parts_are_stored_merged_and_shown"),
    ("test_bounds_command", "test_extreme_noise_is_answered_or_refused_without_a_warning"),
    ("test_bounds_command", "test_extreme_targets_are_answered_or_refused"),
    ("test_divergence_band", "test_the_band_holds_at_all_epsilons_at_once"),
    ("test_run_command", "test_a_summary_says_by_how_much_its_intervals_are_wider"),
    ("test_run_command", "test_the_number_of_jobs_changes_nothing_but_the_time"),
    ("test_natural_filter_play", "test_compiled_interpreted_and_generated_play_is_the_same_to_the_bit"),
    ("test_plots", "test_two_processes_write_the_same_bytes"),
    ("test_counted_losses", "test_bands_of_delta_are_wider_by_what_they_say_at_most"),
    ("test_counted_weights", "test_intervals_contain_those_of_the_losses_and_are_wider_by_what_they_say"),
    ("test_mechanisms_compose", "test_ten_rounds_of_name_and_shame_name_alice"),
    ("test_owned_process", "test_closed_streams"),
    ("test_steady_and_restless", "test_a_steady_and_a_restless_rule_play_the_same_compiled_and_not"),
    ("test_transcript", "test_a_refused_query_and_an_infinite_loss_are_told"),
    ("test_interruption", "test_an_interrupted_run_leaves_at_once_and_keeps_its_blocks"),
    ("test_extreme_laws", "test_a_steep_fall_beyond_a_flat_stretch_is_found"),
    ("test_certified_ends", "test_one_round_of_bounded_range_up_to_the_top"),
    ("test_divergences", "test_false_alarms_are_as_rare_as_stated"),
    ("test_compositions", "test_coins_that_choose_the_challenge_are_no_evidence"),
    ("test_compositions", "test_an_adaptive_adversary_gets_more_than_one_that_is_not"),
    ("test_compositions", "test_a_filter_refuses_and_the_audit_sees_it"),
    ("test_compositions", "test_a_new_function_in_every_round_is_the_same_mechanism_to_the_audit"),
    ("test_compositions", "test_an_exception_on_one_database_only_is_a_violation"),
    ("test_played", "test_a_policy_over_continuous_noise_is_played_plainly"),
    ("test_own_filter", "test_a_sum_of_more_than_two_thousand_units_is_searched"),
})  # fmt: skip
