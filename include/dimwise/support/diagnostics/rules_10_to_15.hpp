// SPDX-License-Identifier: BSL-1.0
// dimwise/support/diagnostics/rules_10_to_15.hpp -- the errors of R10 to R15: concatenation, heads, kinds and extents.
//
// Layer: support. Entries of support/diagnostics.hpp, in the order of support/errors.hpp.
// Tests: tests/support/diagnostics.test.cpp
#pragma once

#include <dimwise/support/messages/diagnostic.hpp>

namespace dimwise::detail::messages {

inline constexpr diagnostic of_rules_10_to_15[] = {
    // R10  Concatenation names its dimension; all others are identical.
    {.id = "ERROR_R10_operands_differ_in_another_dimension",
     .title = "The operands differ in a dimension or mark besides the concatenated one.",
     .seen = {"{op} along {over}: {sides}",
              "{op} along {over}: the operands differ in their order, their elements or marks",
              "{op}: the operands differ in more than the joined dimension: {sides}"},
     .marked = {culprit::differing},
     .causes = {"The parts come from different heads, features or element types.",
                "One part has a mark that the other lacks."},
     .fix = "Bring the operands to the same dimensions and marks; only the named dimension may differ in extent.",
     .example = "cache/append_other_heads"},
    {.id = "ERROR_R10_concat_of_a_static_extent_names_its_result",
     .title = "The grown dimension has a static extent: concatenate into `summed<…>`.",
     .seen = {"{op} along {over_n}: a static extent cannot grow"},
     .marked = {culprit::over},
     .causes = {"The dimension that grows has a static extent."},
     .fix = "`concat<summed<A, B>>(a, b)`, with a dimension for each part.",
     .example = "index/concat_along_heads"},
    {.id = "ERROR_R10_stack_has_another_extent",
     .title = "The number of operands is not the extent of the new dimension.",
     .seen = {"{op} makes {over_n}, but is given {types} operands"},
     .marked = {culprit::over},
     .causes = {"An operand was forgotten, or the extent of the new dimension is wrong."},
     .fix = "Give as many operands as the extent of the new dimension says.",
     .example = "index/stack_of_another_extent"},
    {.id = "ERROR_R10_keys_and_values_grow_together",
     .title = "Keys were passed without values, or to a cache with other keys; or one side has a part, such as a "
              "prefix, that the other lacks.",
     .seen = {"{op} along {over}: keys and values do not grow together: {sides}",
              "{op} along {over}: [{have}] comes alone, without its keys or values",
              "{op}: keys and values do not grow together: {sides}",
              "{op} along {over}: keys and values do not grow together"},
     .marked = {culprit::over},
     .causes = {"Keys were appended without their values.",
                "A prefix was put before the keys only, or before the values only."},
     .fix = "`cache.append(k, v)` takes both, of the same positions. A prefix stands before the keys and before the "
            "values: `concat<summed<prefix, key>>(prefix_v, v)`.",
     .example = "cache/append_keys_alone"},
    {.id = "ERROR_R10_whole_numbers_are_stored_by_scales",
     .title = "A side of a cache that is stored as integers takes a scale. Pass the scales of keys and values, then "
              "the extents.",
     .seen = {"a cache of whole numbers takes a scale for its keys, one for its values, and its extents, but is given "
              "{over}",
              "a cache of whole numbers takes a scale for its keys, one for its values, and its extents"},
     .marked = {culprit::over},
     .causes = {"A cache of 8 or 4 bits was constructed like a cache of floats."},
     .fix = "Pass the scales first: `cache(k_scale, v_scale, batch{2})`. Of `int8_by<>` a scale is one number, of "
            "`int8_by<heads>` a `tensor<float, heads>`.",
     .example = "cache/cache_without_scales"},
    {.id = "ERROR_R10_cache_grows_along_a_run_time_extent",
     .title = "A cache grows along a dimension with a run-time extent.",
     .seen = {"a cache of [{have}] cannot grow along {over_n}: the extent is static",
              "a cache cannot grow along {over_n}: the extent is static"},
     .marked = {culprit::over},
     .causes = {"The position dimension of the cache has a static extent, often the capacity."},
     .fix = "Name a position dimension without a static extent; `capacity<N>` sets the capacity.",
     .example = "cache/cache_of_a_static_extent"},
    {.id = "ERROR_R10_cache_grows_by_whole_bytes",
     .title = "Two elements of 4 bits share a byte along the last dimension: a cache grows along another one.",
     .seen = {"a cache of 4 bits [{have}] grows along {over}, where two positions would share a byte",
              "a cache of 4 bits grows along {over}, where two positions would share a byte"},
     .marked = {culprit::over},
     .causes = {"The positions are the last dimension of a cache of 4 bits."},
     .fix = "Name the features last: `keys<int4_by<>, batch, kv_heads, key, d_k>`.",
     .example = "cache/cache_of_half_bytes"},
    {.id = "ERROR_R10_sliding_cache_has_no_positions_to_go_back_to",
     .title = "A sliding cache has dropped the positions that its window would show after `forget`.",
     .seen = {"a sliding cache over {over} has dropped the positions that its window shows after `forget`"},
     .marked = {culprit::over},
     .causes = {"Drafts of speculative decoding are removed from a cache of the kind `sliding<N>`."},
     .fix = "Remove positions from a cache of the kind `capacity<N>` or `paged`, or begin again with `restart`.",
     .example = "cache/forget_of_a_sliding_cache"},
    {.id = "ERROR_R10_cache_of_another_kind_has_this_member",
     .title = "The kind of a cache decides whether it has a window that is set at run time, a limit, pages, and "
              "whether it adopts positions.",
     .seen = {"{op}: a cache of this kind over {over} does not have it"},
     .marked = {culprit::over},
     .causes =
         {"`keep_window` sets the window of a cache of the kind `windowed` only.",
          "`adopt` marks the first positions of a buffer as held: a sliding cache keeps the last ones, and a "
          "paged cache has no buffer.",
          "`keys_of`, `values_of`, `page_count` and `shared_pages` are members of paged caches only.",
          "`limit` and `restart` are members of caches in one buffer; a paged cache allocates pages as it grows."},
     .fix = "For a window that is known when the program runs, declare `nn::windowed` as the kind of the cache; "
            "`nn::sliding<W>` has its window in its type. Positions are adopted by `capacity<N>` and `windowed`. "
            "`forget(length())` empties a paged cache.",
     .example = "cache/window_of_a_growing_cache"},
    // R11  Grouped heads: nothing is repeated, every query head has its key head.
    {.id = "ERROR_R11_every_head_against_every_head",
     .title = "Each operand has a heads dimension that the other lacks.",
     .seen = {"{op} over {over}: the left operand alone has {left_parallel}, the right one alone {right_parallel}: "
              "every head would meet every head",
              "{op} over {over}: every head would meet every head: {sides}",
              "{op}: every head would meet every head: {sides}"},
     .marked = {culprit::differing},
     .causes = {"Keys of grouped heads were repeated under another heads dimension.",
                "Queries keep their groups, and the keys have one dimension for all heads."},
     .fix = "Both operands use one heads dimension, or keys and values lack the `group` of the queries. Mix heads "
            "after scoring.",
     .example = "heads/keys_tiled"},
    // R12  Weights have distinct input and output dimensions.
    {.id = "ERROR_R12_weight_sums_over_heads_that_are_gone",
     .title = "The weight sums over heads that the operand no longer has: they were averaged, or one was selected.",
     .seen = {"{op} goes over {over}, but {lacking}: the heads were removed before"},
     .marked = {culprit::lacking},
     .causes = {"The heads were averaged, or one was selected, before the output weight."},
     .fix = "Contract the context with its heads: `contract<heads, d_v>(context, w_o)`, without averaging or selecting "
            "them before.",
     .example = "contract/heads_averaged"},
    {.id = "ERROR_R12_weight_is_applied_the_wrong_way_round",
     .title = "The operand has the input side of a square weight, not its output side.",
     .seen = {"{op} goes over {over}, the output of the weight, but the operand is the input: {lacking}",
              "{op} goes over {over}: input and output of the weight are exchanged"},
     .marked = {culprit::lacking},
     .causes = {"The output side of a square weight was named instead of its input side."},
     .fix = "Contract over the weight's input side: `contract<D>(x, w)`, with `w` of dimensions `D, out<D>`.",
     .example = "contract/square_weight_backwards"},
    // R13  Operations and modules take arguments of the kind that they are for.
    {.id = "ERROR_R13_softmax_takes_attendable_or_choice",
     .title = "Softmax goes over positions or alternatives.",
     .seen = {"{op} goes over {over}, which {is} neither positions nor alternatives"},
     .marked = {culprit::over},
     .causes = {"The dimensions are in another order than assumed, so the batch was named.",
                "Features were named instead of positions or classes."},
     .fix = "Name positions or alternatives. If the dimension has the wrong kind, change its kind; "
            "for a contrastive loss `relabel` a batch to candidates.",
     .example = "reduce/flattened_logits"},
    {.id = "ERROR_R13_norm_takes_features",
     .title = "layer_norm and rms_norm go over features; `standardize` takes any.",
     .seen = {"{op} takes features, but is given {over_n}"},
     .marked = {culprit::over},
     .causes = {"Positions or the batch were named instead of the features."},
     .fix = "Name the features. Statistics over other dimensions are `standardize<D…>`.",
     .example = "reduce/layer_norm_over_everything"},
    {.id = "ERROR_R13_needs_ordered_positions",
     .title = "The operation needs dimensions whose elements have positions.",
     .seen = {"{op} goes over {over}, whose elements have no positions"},
     .marked = {culprit::over},
     .causes = {"The batch or the features were named instead of the positions."},
     .fix = "Name a dimension whose elements have positions: `position_dim`, `packed_dim`, or a dimension with the "
            "ability "
            "ordered.",
     .example = "grad/next_word_of_the_batch"},
    {.id = "ERROR_R13_needs_real_numbers",
     .title =
         "Quotients, means, products, exponentials, norms and biases take real numbers: convert integers with `map`.",
     .seen = {"{op} over {over} of integers [{have}] needs real numbers",
              "{op} of integers [{have}] needs real numbers", "{op} over {over} needs real numbers"},
     .marked = {culprit::all},
     .causes = {"Counts, lengths or ids were used without a conversion.",
                "A mask of integers was added to scores: `masked(s, allow(m == 1))`."},
     .fix =
         "Multiply quantized weights by their scales: `dequantised(numbers, scales)`. Convert other integers first: "
         "`map([](int n) { return static_cast<float>(n); }, x)`. Arithmetic with real numbers takes integers as they "
         "are: `lengths / 2.0F`.",
     .example = "choose/power_of_whole_numbers"},
    {.id = "ERROR_R13_stored_numbers_are_widened_first",
     .title =
         "Low-precision elements are stored, not computed with: `widened` and `dequantised` convert them to float.",
     .seen = {"{op} over {over} computes with [{have}], whose elements are stored in 16 bits or fewer",
              "{op} computes with [{have}], whose elements are stored in 16 bits or fewer"},
     .marked = {culprit::all},
     .causes = {"Low-precision weights were used as they were loaded."},
     .fix = "`widened(x)` of 16 bits, `dequantised(x, scale)` of 8 and 4 bits: fused attention still reads the "
            "stored elements.",
     .example = "compare/stored_numbers"},
    {.id = "ERROR_R13_window_does_not_fit",
     .title = "The static extents of a window and its result do not fit, or the dimension is not ordered.",
     .seen = {"{op}: these extents do not fit each other: {over_n}"},
     .marked = {culprit::over},
     .causes = {"The window, its stride and the result do not agree with the extent."},
     .fix = "Choose extents of the window and of the result that fit each other.",
     .example = "positions/pool_does_not_divide"},
    {.id = "ERROR_R13_sinusoid_takes_positions_and_features",
     .title = "`sinusoid` takes positions and features, in this order.",
     .seen = {"`sinusoid` takes positions and features, but is given {over}"},
     .marked = {culprit::over},
     .causes = {"Positions and features were swapped."},
     .fix = "`sinusoid<positions, features>(positions{n})`, in this order.",
     .example = "positions/sinusoid_over_batch"},
    {.id = "ERROR_R13_module_takes_arguments_of_other_kinds",
     .title = "A module takes dimensions, options, element types and parts of the kind of their place.",
     .seen = {"{op} names {over} where it takes {declared}"},
     .marked = {culprit::over},
     .causes = {"Two arguments of the module's type were exchanged, or one was left out.",
                "An element type was given in the place of an option."},
     .fix = "Name the arguments in the order of the module: `nn::multi_head_attention<d_model, heads, d_k, d_v>`, "
            "`nn::learned_positions<seq, d_model>`. An element type is the last argument, "
            "`nn::linear<nn::from<d_model>, nn::to<d_ff>, nn::with_bias, double>`, or `nn::elements<double>` in norms "
            "and `nn::multi_head_attention`. `nn::prepared_by<…>` combines two changes of queries and keys.",
     .example = "nn/heads_and_features_exchanged"},
    {.id = "ERROR_R13_elements_do_not_fit_the_declared_type",
     .title =
         "Elements convert to the same type or to a wider floating-point type: `widened` and `map` convert others.",
     .seen = {"{op} of [{have}]: elements of {computed} do not become {declared} by themselves",
              "{op}: elements of {computed} do not become {declared} by themselves"},
     .marked = {culprit::differing},
     .causes = {"A result of `double` was stored as `float`, or real numbers were stored as integers."},
     .fix =
         "Declare the element type of the expression, or a wider one; `widened` makes floats of 16-bit elements; `map` "
         "with a `static_cast` rounds visibly.",
     .example = "assign/compound_of_wider_elements"},
    // R14  Fused projections are summed dimensions.
    {.id = "ERROR_R14_part_is_taken_from_a_summed_dimension",
     .title = "The operand has no summed dimension with this part.",
     .seen = {"{op}: {over} is not a part of a summed dimension of [{have}]"},
     .marked = {culprit::over},
     .causes = {"A fused projection was declared as one plain dimension.", "Its parts are interleaved per head."},
     .fix = "Declare the fused dimension as `summed<P, Q, …>` and take one of its parts.",
     .example = "restride/fused_by_thirds"},
    // R15  Run-time extents are given once and checked where tensors meet.
    {.id = "ERROR_R15_run_time_extents_are_given_once",
     .title = "A tensor is constructed from one extent of each run-time dimension.",
     .seen = {"a tensor of [{shape}] lacks the run-time extent of {not_given}; given: {given}",
              "a tensor of [{shape}] takes one extent for each run-time dimension; given: {given}",
              "a tensor of [{shape}] takes one extent for each run-time dimension",
              "{word} takes one extent for each run-time dimension of {over}; given: {given}",
              "{word} takes one extent for each run-time dimension of {over}",
              "{word} takes one extent for each run-time dimension"},
     .marked = {culprit::not_given, culprit::types},
     .causes = {"An extent is missing, given twice, or a plain number.",
                "The positions of a mask, which has no operand, were not given."},
     .fix = "Pass one object for each run-time dimension: `tensor<…> x(batch{2}, seq{5})`, `broadcast<heads>(x, "
            "heads{8})`.",
     .example = "arguments/ids_of_a_number"},
    {.id = "ERROR_R15_tensor_is_made_from_elements_and_extents",
     .title = "A tensor is constructed from its run-time extents, from elements and extents, or from an expression.",
     .seen = {"a tensor of [{shape}] is constructed from its elements and its run-time extents, or from an expression"},
     .marked = {culprit::all},
     .causes = {"The extents are missing, or are given before the elements.", "A container was used as a tensor."},
     .fix = "Give the elements first (a list, a container, a span), then one object for each run-time dimension: "
            "`tensor<float, seq, d_k> x(values, seq{5})`; nested lists contain their extents. "
            "`x.assign(values)` replaces elements. Ids come from a container of whole numbers, or a list of ids: "
            "`{id<vocab>{3}, id<vocab>{1}}`.",
     .example = "tensor/assigned_a_container"},
    {.id = "ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents",
     .title =
         "A view is constructed from a pointer or a span of its elements, optional strides, and its run-time extents.",
     .seen = {"a view of [{shape}] is constructed from a pointer or a span of its elements, and its run-time extents"},
     .marked = {culprit::all},
     .causes = {"The memory has another element type, or is a temporary or constant.", "An extent is missing."},
     .fix =
         "Pass the memory first, with the element type of the view, then one object for each run-time dimension: "
         "`tensor_view<const float, seq, d_k> x(pointer, seq{5})`. A container is a variable that outlives the view.",
     .example = "tensor/view_of_a_constant_vector"},
};

}  // namespace dimwise::detail::messages
