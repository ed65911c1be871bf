#!/usr/bin/env python3
"""Writes docs/errors.md: what every compile error means, its cure, wrong and right code, what the compilers print.

    python3 tools/errors_page.py            # compiles the cases of tests/compile_fail and writes the page
    python3 tools/errors_page.py --check    # fails when an id has no cure, a cure no id, or the page is not the one
                                            # that would be written (texts of compilers that are absent are not compared)
    python3 tools/errors_page.py --check --texts build/mistakes.json   # with what tools/compile_fail.py --json wrote
    python3 tools/errors_page.py --dry-run  # prints the page

Compared are the ids, their meanings, cures and code, and the texts of the compilers but for lines of the library's headers.
The meaning is the comment above the id in include/dimwise/support/errors.hpp, the code and the texts are those of the
first case in tests/compile_fail that expects that id, the cures stand below. Standard library only.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import sys
import textwrap

import compile_fail
import compilers

ERRORS = "include/dimwise/support/errors.hpp"
PAGE = "docs/errors.md"

CURES = {
    "ERROR_R7_tensor_of_bool_is_no_condition":
        "Choose element by element with `where(a == b, x, y)`, or make a mask of the comparison, `allow(a < b)`, and of two "
        "`allow(a < b) & allow(b < c)`. To ask about all "
        "elements, count them: `sum<seq>(indicator(allow(a != b)))`, and read the number.",
    "ERROR_R16_query_key_and_value_are_told_apart_by_dimensions":
        "Give `scores` the queries and the keys: both have the features it names. Values have features of their own, `d_v`.",
    "ERROR_R12_weight_sums_over_heads_that_are_gone":
        "Contract the context with its heads: `contract<heads, d_v>(context, w_o)`, without averaging or indexing them before.",
    "ERROR_R6_scores_go_to_softmax":
        "Take `softmax<key>(scores)`; to use the numbers as they are, say `plain(scores)`.",
    "ERROR_R1_contracted_dimension_is_not_in_both":
        "Name a dimension that both operands have. If one side has it under another name, `rename` it to its prime "
        "or back. If one side keeps it inside a composite, `split` that first.",
    "ERROR_R1_operation_names_its_dimension":
        "Say over which dimension, in the angle brackets: `contract<d_model>(x, w)`, `softmax<key>(s)`, `mean<seq>(x)`.",
    "ERROR_R1_dimension_is_not_in_the_operand":
        "Name a dimension of the operand. An earlier step may have removed it: the error lists what the operand has.",
    "ERROR_R2_shared_dimension_is_not_parallel":
        "Scores of positions against positions: `rename<seq, key>` one side. A sum over it: name it in `contract`. "
        "Each position by itself: `contract<experts>(gates, outputs, along<seq>{})`.",
    "ERROR_R2_shared_dimension_pairs_elements_one_to_one":
        "Call the dimension of one operand by another name: a contrastive loss relabels one batch to candidates, "
        "`contract<d_model>(image, relabel<batch, candidates>(text))`, and every image meets every text.",
    "ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out":
        "Declare the new dimension as `prime<D>` or `out<D>` if it is the other side of D. If it really is something "
        "else of the same extent, `relabel<A, B>`, which stands out in review.",
    "ERROR_R3_extents_differ":
        "The two dimensions cannot be the same one. Take the dimension of the right extent, or `slice` first.",
    "ERROR_R3_stored_order_lists_each_dimension_once":
        "Write the file's axes from the slowest to the fastest, each with its dimension; several dimensions that are one axis of "
        "the file go `together<heads, d_k>`. What is stored otherwise than the model has it replaces its dimension: "
        "`pairs_as_halves<d_k>`.",
    "ERROR_R3_values_are_at_other_positions_than_the_weights":
        "The values must stand at the positions that the weights go over: `rename<seq, key>(v)`, or compute the "
        "values from the sequence that the keys were computed from.",
    "ERROR_R3_assigned_dimensions_differ":
        "Declare the dimensions that the expression has, or deduce them: `tensor y = expr;`.",
    "ERROR_R4_extent_does_not_divide":
        "Choose extents that divide, or declare the dimension with an extent of its own instead of `divided`.",
    "ERROR_R4_composite_has_other_factors_or_order":
        "Use the composite's own factors, in its order; `split` a composite before naming a factor of it.",
    "ERROR_R4_composite_is_not_the_declared_dimension":
        "Contract with the output weight (`contract<heads, d_v>(z, w_o)`), or declare the merged dimension.",
    "ERROR_R5_weights_are_contracted_over_their_own_dimension":
        "Contract over the dimensions that the softmax went over, all of them, and give the other operand these "
        "dimensions. Often it is the softmax that names the wrong ones: `softmax<key>`. What mixes heads, layers or features "
        "may be contracted beside them.",
    "ERROR_R5_already_normalised":
        "Drop the second softmax. To sum to one over another dimension on purpose: `renormalise<D>`.",
    "ERROR_R5_weighted_product_is_reduced_over_its_weights_only":
        "`sum<D>`, where the weights sum to one over D: they are the mean already. If something else is meant, say it with "
        "`plain`.",
    "ERROR_R5_mean_divides_weights_that_already_sum_to_one":
        "`sum<D>` of products with weights is their average; `contract<D>(p, v)` in one word. The mean of the weights alone is "
        "1/n, whatever the scores are: `max<D>` or an entropy says something, `mean<heads>` averages heads.",
    "ERROR_R5_softmax_over_a_single_element":
        "Name the dimension of the alternatives. An extent of 1 is often a dimension that should not exist.",
    "ERROR_R5_declared_type_drops_or_invents_normalised":
        "Add `normalised<D>` (or `weighted<D>`) to the declared type, deduce it with `tensor p = expr;`, or drop it "
        "with `plain(expr)`.",
    "ERROR_R6_raw_products_are_scaled_first":
        "`scores<d_k>(q, k)` instead of `contract<d_k>(q, k)`; or `scaled<d_k>`, `scaled(s, x)`, `unscaled(s)`.",
    "ERROR_R6_raw_product_was_multiplied_instead_of_scaled":
        "`scaled(contract<d_k>(q, k), 0.125F)` with the factor, or `scores<d_k>(q, k)` for 1/√d_k. Where the product has its scale "
        "already, in the operands or by hand: `unscaled(p)`.",
    "ERROR_R6_scores_are_already_scaled":
        "Drop the second scale. A temperature on top is an ordinary product: `s * t`.",
    "ERROR_R6_scaled_takes_raw_products":
        "Scale the product of queries and keys itself, directly after `contract`.",
    "ERROR_R6_scaled_names_the_contracted_features":
        "Name the features that were contracted. For another scale on purpose: `scaled(s, x)`.",
    "ERROR_R6_stored_product_has_lost_the_extent_of_its_features":
        "Scale before storing, or give the number: `scaled(s, 1 / std::sqrt(n))`.",
    "ERROR_R6_scores_are_products_of_positions":
        "A projection is `contract`. For scores, both operands keep positions and nothing else but parallel "
        "dimensions; a position taken by `at` counts as kept.",
    "ERROR_R6_scores_are_contracted_only_after_softmax":
        "`softmax` first. For attention without softmax (linear attention) say `plain(s)`.",
    "ERROR_R6_declared_type_drops_or_invents_raw_or_score":
        "Add the mark to the declared type, deduce it with `tensor s = expr;`, or drop it with `plain(expr)`.",
    "ERROR_R7_mask_needs_a_polarity_allow_or_block":
        "`allow(m)` where true means visible, `allow_of(block(m))` where true means hidden; comparisons that hold together are "
        "`allow(a < b) & allow(b < c)`. As 1 and 0: `indicator(allow(m))`.",
    "ERROR_R7_block_mask_needs_allow_of":
        "`masked(s, allow_of(block(m)))`, and the same behind the values of a module.",
    "ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function":
        "`padding<key>(lengths)`, `causal<seq, key>{}`; a function takes the scores, not one of them: "
        "`[](const auto& s) { return map(f, s); }`.",
    "ERROR_R7_given_mask_is_a_tensor_of_bool":
        "Compute a tensor of bool, for instance with `map`. A number that is added is a bias: `biased(s, b)`.",
    "ERROR_R7_mask_has_dimensions_that_the_scores_lack":
        "Name the mask's dimensions as those of the scores. What only the mask has must be parallel, such as batch. After "
        "`at<seq>` there is no query position: `slice<seq>` keeps it.",
    "ERROR_R7_masks_serve_no_common_dimension":
        "Every mask of one softmax has the dimension that this softmax goes over: a padding of keys names `key`. Of queries that see "
        "nothing, or everything, say that whole rows are meant: `padding<source>(s) & whole_rows(padding<target>(t))`.",
    "ERROR_R7_mask_does_not_serve_this_dimension":
        "Softmax over the mask's key side, or make the mask for the dimension that is reduced: `padding<key>(lengths)` for "
        "a softmax over `key`; `whole_rows(m)` of a mask of queries.",
    "ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over":
        "Give the bias the dimension of the softmax: a padding of keys is [batch, key], not [batch, seq]. What is the same for all "
        "keys changes no weight. The maximum need not be subtracted: softmax does so. Before `sigmoid` or another function, add "
        "with `+`.",
    "ERROR_R7_bias_is_masked_instead_of_the_scores":
        "Mask the sum: `masked(biased(s, b), m)` or `masked(s + b, m)`. `nn::attention<d_k, key>(q, k, v, m)` forms the scores itself "
        "and takes the mask alone; attention of scores that exist is `contract<key>(softmax<key>(masked(s, m)), v)`.",
    "ERROR_R7_masking_comes_before_softmax":
        "`softmax<key>(masked(s, m))`. To select from weights: `a * indicator(m, …)`, then `renormalise<key>`.",
    "ERROR_R7_masked_values_go_to_softmax_or_a_reduction":
        "Softmax or reduce first. To continue with the values, do not mask them.",
    "ERROR_R7_masked_values_are_given_to_a_function":
        "Apply the function first, then `masked`.",
    "ERROR_R7_query_and_key_positions_are_related_or_have_origins":
        "Declare the key side as `prime<seq>`, or say where both begin: "
        "`causal<A, B>{starting_at(A{n}, i), starting_at(B{m}, j)}`.",
    "ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions":
        "Give a tensor of whole numbers over batch (or other parallel dimensions), or one whole number.",
    "ERROR_R7_declared_type_drops_or_invents_biased":
        "Store the sum under a name of its own, `tensor t = biased(s, b);` or `tensor t = s + b;`, or declare `biased_for<…>` as the "
        "error spells it. A later `t += b` keeps the type. What is no score takes `x += b` as it is.",
    "ERROR_R7_declared_type_drops_or_invents_masked":
        "Take the softmax before storing, or deduce the type with `tensor s = expr;`.",
    "ERROR_R8_neither_has_all_dimensions_of_the_other":
        "Often one of them has a wrong name, or lacks a projection: a residual takes `contract<heads, d_v>(z, w_o)`. Where "
        "both have dimensions of their own on purpose: `broadcast_like`.",
    "ERROR_R8_assignment_never_broadcasts":
        "Write `broadcast<D>(x, extent)`, or declare the type without the dimension. Where a product was to have it, both operands "
        "shared another one: `relabel` or `rename` one side.",
    "ERROR_R9_already_rotated":
        "Rotate once: after the projection, before scores or cache.",
    "ERROR_R9_only_one_operand_is_rotated":
        "Rotate both queries and keys, or neither. A cache keeps its mark.",
    "ERROR_R9_values_are_not_rotated":
        "Rotate queries and keys only.",
    "ERROR_R9_rotary_takes_positions_and_the_features_of_a_head":
        "Split heads first, then name the position and the features of one head.",
    "ERROR_R9_angles_do_not_belong_to_the_rotated_positions":
        "Give positions along the rotated dimension (and batch), or cosines and sines along it and one feature that "
        "counts the pairs: half as many as features are turned.",
    "ERROR_R9_declared_type_drops_or_invents_rotated":
        "Add `rotated<D>` to the declared type or deduce it with `tensor k = expr;`.",
    "ERROR_R10_operands_differ_in_another_dimension":
        "Bring the operands to the same dimensions and marks; only the named dimension may differ in extent.",
    "ERROR_R10_concat_of_a_static_extent_names_its_result":
        "`concat<summed<A, B>>(a, b)`, with a dimension for each part.",
    "ERROR_R10_keys_and_values_grow_together":
        "`cache.append(k, v)`: both at once, of the same positions. A prefix stands before the keys and before the values: "
        "`concat<summed<prefix, key>>(prefix_v, v)`.",
    "ERROR_R10_cache_grows_along_a_run_time_extent":
        "Name a position dimension without a static extent; the capacity is said by `capacity<N>`.",
    "ERROR_R10_cache_grows_by_whole_bytes":
        "Name the features last: `keys<int4_by<>, batch, kv_heads, key, d_k>`.",
    "ERROR_R10_stack_has_another_extent":
        "Give as many operands as the extent of the new dimension says.",
    "ERROR_R11_every_head_against_every_head":
        "Both operands use one heads dimension, or the keys lack the `group` of the queries. Mix heads after scoring.",
    "ERROR_R12_weight_is_applied_the_wrong_way_round":
        "Contract over the weight's input side: `contract<D>(x, w)`, with `w` of dimensions `D, out<D>`.",
    "ERROR_R13_softmax_takes_attendable_or_choice":
        "Name positions or alternatives. If the dimension is of another kind than it should be, change its kind; for "
        "a contrastive loss `relabel` a batch to candidates.",
    "ERROR_R13_norm_takes_features":
        "Name the features. Statistics over other dimensions are `standardize<D…>`.",
    "ERROR_R13_needs_ordered_positions":
        "Name a dimension whose elements have positions: `position_dim`, `packed_dim`, or one with the ability ordered.",
    "ERROR_R13_needs_real_numbers":
        "`map([](int n) { return static_cast<float>(n); }, x)` before. Arithmetic with real numbers takes whole ones as they "
        "are: `lengths / 2.0F`.",
    "ERROR_R13_stored_numbers_are_widened_first":
        "`widened(x)` of 16 bits, `dequantised(x, scale)` of 8 and 4 bits: fused attention still reads them as they are stored.",
    "ERROR_R13_window_does_not_fit":
        "Choose an extent of the window that fits, and one of the result that follows from it.",
    "ERROR_R13_sinusoid_takes_positions_and_features":
        "`sinusoid<positions, features>(positions{n})`, in this order.",
    "ERROR_R14_part_is_taken_from_a_summed_dimension":
        "Declare the fused dimension as `summed<P, Q, …>` and take one of its parts.",
    "ERROR_R15_run_time_extents_are_given_once":
        "Give one object for each dimension whose extent is known at run time: `tensor<…> x(batch{2}, seq{5})`.",
    "ERROR_R1_operation_takes_other_arguments":
        "The operations page says what each word takes. A number beside a tensor is multiplied or added; a container becomes a "
        "tensor first, a tensor of bool a mask by `allow`; `biased` adds a bias made from positions to scores; extents are objects "
        "of their dimension: `broadcast<heads>(x, heads{8})`. `split_ids` takes the factors in the order of their product.",
    "ERROR_R7_mask_has_no_elements_to_print":
        "Print what the mask is for these extents: `std::cout << indicator(mask, seq{4}, key{4})`.",
    "ERROR_R1_tensor_names_dimensions":
        "Make the type a dimension: `struct step : position_dim<> {};`, or take one that is there.",
    "ERROR_R1_element_type_comes_first":
        "Say the type of the elements first: `tensor<float, seq, d_model>`. Constants are a `const tensor<float, …>`, or a "
        "`tensor_view<const float, …>`.",
    "ERROR_R3_view_and_tensor_differ_in_type":
        "Evaluate an expression into a tensor that lives as long as the view. Name the dimensions in the order of the tensor, "
        "or `permute` it; a constant tensor has views of `const` elements.",
    "ERROR_R13_elements_do_not_fit_the_declared_type":
        "Declare the element type of the expression, or a wider one; `map` with a `static_cast` rounds visibly.",
    "ERROR_R15_tensor_is_made_from_elements_and_extents":
        "Give the elements first (a list, a container, a span), then one object for each run-time dimension: "
        "`tensor<float, seq, d_k> x(values, seq{5})`; nested lists say their extents themselves. `x.assign(values)` replaces elements.",
    "ERROR_R15_view_is_made_from_a_pointer_or_span_and_extents":
        "Give the memory first, of the view's own element type, then one object for each run-time dimension: "
        "`tensor_view<const float, seq, d_k> x(pointer, seq{5})`.",
    "ERROR_R18_element_is_taken_by_one_id_of_each_dimension":
        "Give one id of each dimension, in any order: `x(id<seq>{1}, id<d_model>{0})`. `at<seq>(x, 1)` takes a part.",
    "ERROR_R17_dimension_occurs_twice":
        "Name one of the two otherwise: `prime<D>` for the other positions, `out<D>` for the output of a weight.",
    "ERROR_R18_single_element_meets_its_whole_dimension":
        "`slice` keeps the dimension. To use one element for all: `broadcast<D>` first.",
    "ERROR_R18_ids_index_their_own_dimension_only":
        "Use an id of this dimension. To compute with what ids stand for, take it from a table: "
        "`gather<vocab>(table, ids)`.",
    "ERROR_R18_ids_of_a_composite_are_split_first":
        "`auto [beams, words] = split_ids(ids, beam{n}, word{m})`, and each factor by its own ids: "
        "`gather<word>(gather<beam>(split<beam, word>(x), beams), words)`. Of a sum take the part: `at<cls>(part<cls>(x), 0)`. "
        "Ids along the composite itself reorder it as a whole.",
    "ERROR_R18_slice_of_a_composite_names_a_plain_dimension":
        "Declare a plain dimension for what the slice gives: `slice<merged<beam, word>, best>(x, first, count)`.",
    "ERROR_R18_slice_of_a_static_extent_names_its_result":
        "`slice<D, Result>(x, first)`, where Result has the extent of the slice.",
    "ERROR_R18_slice_is_longer_than_its_dimension":
        "Give the result an extent that fits.",
    "ERROR_R18_slice_has_another_kind":
        "Declare the result with the kind of the dimension it is cut from; `relabel` says otherwise.",
    "ERROR_R18_more_elements_than_the_dimension_has":
        "Ask for at most as many as the dimension has.",
    "ERROR_R19_packed_positions_need_their_documents":
        "Mask with `document<Q, K>{}` before softmax or reduction; combine it with others by `&`. What has no such mask "
        "(`prefix`, windows, the mean of one document): cut the document out and give it positions of its own, "
        "`relabel<packed_seq, seq>(slice<packed_seq>(x, first, count))`, or give the mask element by element.",
    "ERROR_R19_mean_over_all_documents_says_so":
        "`cross_entropy<vocab>(logits, words, all_documents{})`, where the mean over all documents is meant.",
    "ERROR_R21_operation_has_no_gradient":
        "Take its operand as a constant, `detached(x)`, or let a function of your own say its derivative: a member "
        "`derivative(x)`.",
    "ERROR_R21_loss_is_one_number":
        "Name every dimension that the loss is averaged over, `mean<batch, seq>(…)`, the classes of a distribution too.",
    "ERROR_R21_loss_has_no_tracked_operand":
        "Use the model that the loss is given, not the one outside: `[&](const auto& m) { … m(x) … }`.",
    "ERROR_R21_model_has_no_parameters":
        "Differentiate by a tensor of real numbers, a module that has some, or a tuple of them.",
    "ERROR_R21_gradients_of_gradients_are_not_recorded":
        "Differentiate by a plain model: outside the loss, or by `detached(x)`.",
    "ERROR_R22_targets_have_other_dimensions":
        "Give both the same dimensions: `at<one>(x, 0)` takes a dimension of one element away, `broadcast_like` repeats "
        "visibly.",
    "ERROR_R22_logits_are_log_probabilities":
        "Give the loss the logits: it normalises them itself, over the dimension that it names.",
    "ERROR_R22_mean_goes_over_the_elements_of_the_loss":
        "Name all dimensions of the loss's elements, or none; those that the loss normalises are not among them.",
    "ERROR_R22_targets_sum_to_one_over_another_dimension":
        "Normalise the targets over the dimension that the loss names, or give their logits.",
    "ERROR_R22_weights_have_other_dimensions":
        "`class_weights` has the dimension of the alternatives, `positive_weight` and masks have dimensions of the loss's "
        "elements.",
    "ERROR_R22_gradient_belongs_to_another_model":
        "Give `step` the gradient that `value_and_gradient` gave for this model.",
    "ERROR_R22_batches_are_added_as_averages":
        "Return the `average` that the loss gives, without `mean()` or `value()`.",
}

HEAD = f"""# Compile errors

<!-- generated: python3 tools/errors_page.py; do not edit -->

One mistake gives one error. Its name begins with `ERROR_` and the rule's id; its arguments are the operation, the
dimensions that it named (`over<about<D, extent<64>>>`), and the dimensions and marks of its operands (`lhs`, `rhs`,
`operand_shape`, or `declared` and `computed`). [How to read an error](howto/read_an_error.md) takes one apart.

This page lists every error: what it means, what to do, a wrong line and its corrected twin, and what each compiler
prints. The code is that of `tests/compile_fail`, the texts are what the compilers printed when the page was written.
The names that the code uses (`q`, `k`, `v`, `d_k`, …) are declared in `tests/compile_fail/prelude.hpp`.
"""
NOTE = "<!-- no-compile: a case of tests/compile_fail, where the mistake must fail and its twin must compile -->"


def ids(root):
    """-> [(rule's line, [(id, meaning)])]"""
    rules, comment = [], []
    for line in (root / ERRORS).read_text(encoding="utf-8").splitlines():
        rule = re.match(r"// (R\d+)\s+(.*)", line)
        if rule:
            rules.append((f"{rule[1]}: {rule[2]}", []))
        elif line.startswith("/// "):
            comment.append(line[4:])
        elif re.match(r"struct ERROR_\w+;", line):
            rules[-1][1].append((line[len("struct "):-1], " ".join(comment)))
            comment = []
        elif not line.startswith("template"):
            comment = []
    return rules


def is_true(condition, macros):
    """Evaluates what stands after #if: defined, !, &&, ||, brackets."""
    text = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda name: str(name[1] in macros), condition)
    text = text.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    if not re.fullmatch(r"(?:True|False|and|or|not|[()\s])*", text):
        raise ValueError(f"#if {condition}: only defined, !, && and || are understood")
    return bool(eval(text))  # words checked above


def preprocessed(source, macros):
    """The lines of a case that a compiler sees with these macros."""
    lines, stack = [], []  # stack of [branch taken now, some branch was taken]
    for line in source.splitlines():
        directive = re.match(r"#\s*(ifdef|ifndef|if|elif|else|endif)\b\s*(.*?)\s*(?://.*)?$", line)
        if not directive:
            if all(taken for taken, _ in stack):
                lines.append(line)
            continue
        word, rest = directive.groups()
        if word in ("ifdef", "ifndef", "if"):
            now = is_true(rest, macros) if word == "if" else (rest in macros) == (word == "ifdef")
            stack.append([now, now])
        elif word == "endif":
            stack.pop()
        else:
            now = not stack[-1][1] and (word == "else" or is_true(rest, macros))
            stack[-1] = [now, stack[-1][1] or now]
    return lines


def shown(source, macros):
    """-> the code of a case as a user would write it, without its head."""
    lines = [line for line in preprocessed(source, macros)
             if not re.match(r"//\s*(MISTAKE|RULE|EXPECT|FROM|VARIANTS|SPDX)|#include|// SPDX", line)]
    text = re.sub(r"\[\[maybe_unused\]\] ", "", "\n".join(lines)).replace("RESULT ", "tensor ")
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def code_blocks(source):
    """-> the wrong code and the right code."""
    blocks = []
    for title, macros in (("Wrong", set()), ("Right", {"FIXED"})):
        blocks.append(f"{title}:\n\n{NOTE}\n```cpp\n{shown(source, macros)}\n```\n")
    return "\n".join(blocks)


def texts_of(root, cases, found, jobs, file):
    """-> {case name: {compiler name: text}}, as compile_fail recorded them in that file, or of now"""
    if file:
        records = json.loads(file.read_text(encoding="utf-8"))
    else:
        harness = compile_fail.Harness(root, found, "dimwise/dimwise.hpp", use_pch=True)
        records = compile_fail.run(harness, cases, jobs, variants=("plain",))[2]
    texts, names = {}, {case.name for case in cases}
    for record in records:
        if record["variant"] == "plain" and record["case"] in names:
            texts.setdefault(record["case"], {})[record["compiler"]] = record["text"].rstrip("\n")
    return texts


def entry(root, name, meaning, cases, texts, uses):
    lines = [f"### {name}", "", meaning, "", f"Cure: {CURES[name]}", ""]
    if not uses:
        lines += ["No operation of this version returns it.", ""]
    if not cases:
        return "\n".join(lines)
    first = cases[0]
    lines += [f"`tests/compile_fail/{first.name}.cpp`: {first.mistake}", "", code_blocks(first.path.read_text(encoding="utf-8"))]
    for compiler, text in texts[first.name].items():
        lines += ["<details>", f"<summary>{compiler}</summary>", "", "```text", text, "```", "", "</details>", ""]
    if len(cases) > 1:
        lines += ["Other mistakes with this error:", ""]
        lines += [f"* `{case.name}`: {case.mistake}" for case in cases[1:]] + [""]
    return "\n".join(lines)


def wrapped(text):
    """Prose at 120 columns; everything that must stay on its line is left alone."""
    out, code = [], False
    for line in text.splitlines():
        code ^= line.startswith("```")
        if code or len(line) <= 120 or re.match(r"[`<#|]{3}|<", line):
            out.append(line)
        else:
            out += textwrap.wrap(line, 120, break_long_words=False, break_on_hyphens=False,
                                 subsequent_indent="  " if line.startswith("* ") else "")
    return "\n".join(out) + "\n"


def write_page(root, found, jobs, file=None):
    of_id = {}
    for case in compile_fail.load(root, ""):
        name = re.search(r"ERROR_R\d+\w*", " ".join(text for text, _ in case.expectations))
        if name and not case.problems:
            of_id.setdefault(name[0], []).append(case)
    for mistakes in of_id.values():
        mistakes.sort(key=lambda case: not case.origin)  # what was made before is the best example
    texts = texts_of(root, [cases[0] for cases in of_id.values()], found, jobs, file)
    sources = "\n".join(path.read_text(encoding="utf-8") for path in sorted((root / "include").rglob("*.hpp"))
                        if path != root / ERRORS)
    page = [HEAD]
    for rule, errors in ids(root):
        page.append(f"## {rule}\n")
        for name, meaning in errors:
            page.append(entry(root, name, meaning, of_id.get(name, []), texts, name in sources))
    without = [name for _, errors in ids(root) for name, _ in errors if name not in of_id]
    versions = "\n".join(f"* {compiler.name}: {compiler.version}" for compiler in found)
    page.append(f"## The compilers\n\n{versions}\n")
    return wrapped("\n".join(page)), without


def comparable(page, absent):
    """A page without the texts of compilers that are not here, without versions and line numbers of the library."""
    for name in absent:
        page = re.sub(rf"<details>\n<summary>{re.escape(name)}</summary>\n.*?</details>\n\n?", "", page, flags=re.DOTALL)
    page = page.split("## The compilers")[0]
    page = re.sub(r"\bauto:\d+", "auto", page)  # g++ counts the parameters of all generic lambdas before
    return re.sub(r"(include/[\w/]+\.hpp):\d+(?::\d+)?|^ *\d+ \|", r"\1", page, flags=re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--texts", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    arguments = parser.parse_args()

    root = compilers.ROOT
    declared = {name for _, errors in ids(root) for name, _ in errors}
    problems = [f"{name} has no cure in tools/errors_page.py" for name in sorted(declared - CURES.keys())]
    problems += [f"{name} is not declared in {ERRORS}" for name in sorted(CURES.keys() - declared)]
    if problems:
        sys.exit("\n".join(problems))
    found = compilers.find_compilers()
    page, without = write_page(root, found, arguments.jobs, arguments.texts)
    if arguments.dry_run:
        print(page, end="")
    elif arguments.check:
        path = root / PAGE
        absent = {"g++-12", "clang-14", "clang-19"} - {compiler.name for compiler in found}
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if comparable(old, absent) != comparable(page, absent):
            for line in difflib.unified_diff(comparable(old, absent).splitlines(), comparable(page, absent).splitlines(),
                                             f"{PAGE} as it is", "as it would be written", lineterm="", n=1):
                print(line)
            sys.exit(f"{PAGE} is not what the cases give now; to write it again: python3 tools/errors_page.py")
        print(f"{len(declared)} errors, {PAGE} is up to date")
    else:
        (root / PAGE).write_text(page, encoding="utf-8")
        print(f"{PAGE}: {len(declared)} errors, {len(declared) - len(without)} with a case")
        for name in without:
            print(f"without a case: {name}")


if __name__ == "__main__":
    main()
