// SPDX-License-Identifier: BSL-1.0
// dimwise/support/diagnostics/rules_1_to_4.hpp -- the errors of R1 to R4: products, identity and composites.
//
// Layer: support. Entries of support/diagnostics.hpp, in the order of support/errors.hpp.
// Tests: tests/support/diagnostics.test.cpp
#pragma once

#include <dimwise/support/messages/diagnostic.hpp>

namespace dimwise::detail::messages {

inline constexpr diagnostic of_rules_1_to_4[] = {
    // R1  A contraction names its dimension, and both operands have it; what an operation names occurs in its operand.
    {.id = "ERROR_R1_contracted_dimension_is_not_in_both",
     .title = "A product sums over or runs along a dimension that one operand lacks.",
     .seen = {"{op} goes over {over}, but {lacking}", "{op} goes over {over}, which not both operands have"},
     .marked = {culprit::lacking},
     .causes = {"A transpose or a `rename` was forgotten, so one side has the dimension under another name.",
                "One side keeps it inside a composite that was not split."},
     .fix =
         "Name a dimension that both operands have. If one operand has it under another name, `rename` it to its prime "
         "or back. If one side keeps it inside a composite, `split` that first.",
     .example = "contract/over_keys"},
    {.id = "ERROR_R1_operation_names_its_dimension",
     .title = "The operation was called without its dimension, or with a type that is not a dimension: "
              "`softmax<key>(s)`.",
     .seen = {"{op} is given {types} instead of its dimensions",
              "{op} over {over} names no dimension of [{lhave}] and [{rhave}]",
              "{op} does not name the dimension of [{have}] that it goes over", "{op} does not name its dimension"},
     .marked = {culprit::over, culprit::types},
     .causes = {"The dimension was given by its number, as in NumPy.", "The angle brackets are missing."},
     .fix = "Name the dimension in angle brackets: `contract<d_model>(x, w)`, `softmax<key>(s)`, "
            "`mean<seq>(x)`.",
     .example = "arguments/axis_of_a_mean"},
    {.id = "ERROR_R1_dimension_is_not_in_the_operand",
     .title = "The operation names a dimension that its operand does not have.",
     .seen = {"{op} names {missing}, but its operand has {have}", "{op} names {over}, but not every operand has it",
              "{op} names {over}, which is not in its operand"},
     .marked = {culprit::over},
     .causes = {"An earlier operation removed the dimension.", "Another dimension of the same extent was meant.",
                "The operands of `concat<summed<a, b>>(…)` are in another order than the parts.",
                "The sinks of `attention_with_sinks` have a dimension that the queries and the heads lack."},
     .fix =
         "Name a dimension of the operand. An earlier step may have removed it: the error lists what the operand has.",
     .example = "arguments/missing_extent_of"},
    {.id = "ERROR_R1_tensor_names_dimensions",
     .title =
         "A type in the list of a tensor's dimensions is not a dimension: declare `struct seq : position_dim<> {};`.",
     .seen = {"the tensor [{have}] lists {over}, which is not a dimension"},
     .marked = {culprit::over},
     .causes = {"A plain struct is used as a dimension."},
     .fix = "Declare the type as a dimension, `struct step : position_dim<> {};`, or use a declared one.",
     .example = "dim/no_dimension"},
    {.id = "ERROR_R1_element_type_comes_first",
     .title = "A tensor names its element type first: `tensor<float, seq>`.",
     .seen = {"the tensor begins with {over} instead of its element type"},
     .marked = {culprit::over},
     .causes = {"The element type is missing, or follows the dimensions."},
     .fix = "Name the element type first: `tensor<float, seq, d_model>`. Constants are a `const tensor<float, "
            "…>`, or a `tensor_view<const float, …>`.",
     .example = "dim/element_type_left_out"},
    {.id = "ERROR_R1_expr_names_a_shape",
     .title = "The type of an expression is an element type and a shape: `expr<float, shape<seq, d_model>>`.",
     .seen = {"the `expr` names {over} where its shape is expected"},
     .marked = {culprit::over},
     .causes = {"The dimensions are listed as those of a tensor are, without `shape<…>`."},
     .fix = "Put the dimensions and marks into a shape: `expr<float, shape<seq, d_model>>`.",
     .example = "written/names_no_shape"},
    {.id = "ERROR_R1_linear_names_its_sides",
     .title =
         "A linear layer says which dimensions it maps and to which: `nn::linear<nn::from<d_model>, nn::to<d_ff>>`.",
     .seen = {"the `linear` names {over} where `from<…>` and `to<…>` are expected"},
     .marked = {culprit::over},
     .causes = {"The dimensions are listed as the sizes of a layer are in PyTorch."},
     .fix = "Put the dimensions of the input into `nn::from<…>` and those of the output into `nn::to<…>`: "
            "`nn::linear<nn::from<heads, d_v>, nn::to<d_model>>`.",
     .example = "nn/linear_of_two_dimensions"},
    {.id = "ERROR_R1_argument_is_missing",
     .title = "The call ends before an argument that the operation needs.",
     .seen = {"{op} of [{have}] over {over} lacks an argument: {types}", "{op} of [{have}] lacks an argument: {types}",
              "{op} lacks an argument: {types}"},
     .marked = {culprit::types},
     .causes = {"The last argument was forgotten.",
                "The call is written as a member of the tensor in another library."},
     .fix = "Pass the argument: `contract<d_model>(x, w)`, `masked(s, causal<seq, key>{})`, `biased(s, b)`, "
            "`at<seq>(x, 0)`, `gather<vocab>(table, ids)`, `scatter_add<vocab>(values, ids)`, `map(f, x)`, "
            "`clip_norm(gradient, 1.0)`.",
     .example = "arguments/weight_left_out"},
    {.id = "ERROR_R1_operation_takes_other_arguments",
     .title =
         "The call has an argument too few or too many, or one of another type than a tensor, a mask, a number or an "
         "extent.",
     .seen = {"{op} over {over} does not take {types}", "{op} of [{have}] does not take {types}",
              "{op} does not take {types}", "{op} over {over} does not take these arguments",
              "{op} does not take tensors of [{have}]", "{op} does not take these arguments"},
     .marked = {culprit::types},
     .causes = {"An argument is missing, or has another type: a container for a tensor, a number for an extent.",
                "The arguments are in the order of another library."},
     .fix =
         "The page of operations lists the arguments of each operation. A number is multiplied or added to a tensor; a "
         "container becomes a tensor first; `allow` makes a mask of a tensor of bool; `biased` adds a bias made from "
         "positions to scores; extents are objects of their dimension: `starting_at(seq{1}, 41)`. An option "
         "of a loss is a named type, given once: `label_smoothing{0.1}`, `temperature{2}`, `class_weights(w)`. The "
         "settings of an "
         "optimizer are named, in braces: `adamw(model, {.rate = 1e-3})`. `split_ids` "
         "takes the factors in the order of their product. Read a file before you load a model from it: "
         "`io::load(model, io::read_safetensors(path))`; the model is not constant. `for_each_parameter_of` takes its "
         "function before the models.",
     .example = "arguments/block_for_a_bias"},
    {.id = "ERROR_R1_operation_has_another_name",
     .title = "The operation has another name in this library: `use_instead` names it.",
     .seen = {"{op} has another name here: {types}"},
     .marked = {culprit::types},
     .causes = {"The call is written as in NumPy, PyTorch or Eigen."},
     .fix = "Dimensions are named instead of numbered: `contract<d_model>(x, w)` for `x @ w`, `softmax<key>(s)`, "
            "`mean<seq>(x)`, `argmax<vocab>(x)`, `masked(s, m)`; `split<heads, d_k>(x)` and `merge<heads, d_k>(x)` for "
            "reshape and view, `broadcast<heads>(x, heads{8})` for unsqueeze, `at<one>(x, 0)` for squeeze, "
            "`extent_of<seq>(x)` for size and shape, `concat<summed<a, b>>(x, y)` for cat. Operands "
            "meet by name, so a transpose is rarely needed: `permute<d_model, seq>(x)`. Gradients are those of a loss: "
            "`gradient(model, loss)`.",
     .example = "arguments/matrix_product"},
    {.id = "ERROR_R1_module_takes_other_arguments",
     .title = "A module is called with other arguments than it takes: too few, or without a tensor.",
     .seen = {"the module {types} is not called with {over} alone", "the module {types} does not take these arguments",
              "the module does not take these arguments"},
     .marked = {culprit::over, culprit::types},
     .causes = {"Cross-attention was called without its memory.", "A tensor is missing before the masks."},
     .fix = "The column `shape` of the page of modules lists the arguments of each: cross-attention takes the input "
            "and the "
            "memory, followed by masks, biases and functions of scores.",
     .example = "nn/memory_forgotten"},
    // R2  A dimension that both operands have and that is not contracted is parallel, or named by `along`.
    {.id = "ERROR_R2_shared_dimension_is_not_parallel",
     .title = "The result would be a diagonal: rename one side, contract it, or pass `along<D>{}`.",
     .seen = {"both operands of {op} have {over}, so the result would be a diagonal"},
     .marked = {culprit::over},
     .causes = {"Queries and keys have the same position dimension, because the keys were not renamed.",
                "The contracted dimension was not named."},
     .fix = "For scores of positions against positions, `rename<seq, key>` one side. To sum over it, name it in "
            "`contract`. "
            "For each position by itself, pass `along`: `contract<experts>(gates, outputs, along<seq>{})`.",
     .example = "contract/keys_not_renamed"},
    {.id = "ERROR_R2_shared_dimension_pairs_elements_one_to_one",
     .title = "Both operands of a product share all remaining dimensions: each element meets one partner only, and a "
              "softmax "
              "has nothing to choose from.",
     .seen = {"both operands of {op} have {over}, so each element meets one partner and nothing is compared"},
     .marked = {culprit::over},
     .causes =
         {"Both sides of a contrastive loss have the batch dimension, so each example meets its own partner only."},
     .fix = "Give the dimension of one operand another name: a contrastive loss relabels one batch to candidates, "
            "`contract<d_model>(image, relabel<batch, candidates>(text))`, and every image meets every text.",
     .example = "reduce/contrastive_loss_of_pairs"},
    // R3  Identity is not extent.
    {.id = "ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out",
     .title = "The two dimensions are not related; `relabel` is the visible exception.",
     .seen = {"{op} from {first} to {second}: neither is the prime or out of the other"},
     .marked = {culprit::over},
     .causes = {"`rename` was used between unrelated dimensions, such as decoder and encoder positions."},
     .fix =
         "For another order of the dimensions use `permute<heads, seq, d_k>(q)`, which keeps all names. If the new "
         "name is the other side of D, declare it as `prime<D>` or `out<D>`. If it really is another dimension of the "
         "same extent, use `relabel<A, B>`, which stands out in review.",
     .example = "restride/transposed_by_rename"},
    {.id = "ERROR_R3_extents_differ",
     .title = "The two static extents differ.",
     .seen = {"{op} takes {first} for {second}, but their extents differ: {over_n}"},
     .marked = {culprit::over},
     .causes = {"Two dimensions were taken for the same one.", "A slice was not taken before the rename."},
     .fix = "Name the dimension with the right extent, or `slice` first.",
     .example = "restride/diagonal_of_other_extents"},
    {.id = "ERROR_R3_values_are_at_other_positions_than_the_weights",
     .title = "Weights over one dimension meet values at other positions: rename the values.",
     .seen = {"{op} goes over {over}, but the values do not have it: {lacking}",
              "{op} over {over}: keys and values are at other positions"},
     .marked = {culprit::lacking},
     .causes = {"The values were not renamed as the keys were.",
                "The values were computed from another sequence than the keys."},
     .fix = "The values must have the positions that the weights are normalised over: `rename<seq, key>(v)`, or "
            "compute the "
            "values from the sequence that the keys were computed from.",
     .example = "contract/cross_attention_values"},
    {.id = "ERROR_R3_assigned_dimensions_differ",
     .title = "The expression has other dimensions than the declared type.",
     .seen = {"{op}: {changed}", "{op} over {over}: the operands have other dimensions than the state: {sides}"},
     .marked = {culprit::differing},
     .causes = {"A dimension was forgotten in the declared type.",
                "The expression was computed from the wrong tensor."},
     .fix = "If the declared type is right, change the expression: it names another dimension, or was computed from "
            "another tensor. If the expression is right, declare its dimensions, or deduce them: `tensor y = expr;`.",
     .example = "assign/encoder_queries"},
    {.id = "ERROR_R3_view_and_tensor_differ_in_type",
     .title =
         "A view has the dimensions, order and elements of its tensor; an expression has no memory: evaluate it first.",
     .seen =
         {"a view of [{shape}] refers to a tensor of [{shape2}]: dimensions, order and element type must be equal: it "
          "is not a view",
          "a view of [{shape}] refers to memory of another type, or to an expression, which has no memory"},
     .marked = {culprit::differing},
     .causes = {"The view lists the dimensions in another order than the tensor.",
                "The view refers to an expression, or writes to a constant tensor."},
     .fix = "Evaluate an expression into a tensor that lives as long as the view. Name the dimensions in the order of "
            "the tensor, or `permute` it; a constant tensor has views of `const` elements.",
     .example = "tensor/view_in_another_order"},
    {.id = "ERROR_R3_elements_of_a_temporary_are_gone",
     .title = "A pointer or a span refers to the elements of a temporary, which is destroyed at the end of the line.",
     .seen = {"the elements of a temporary of [{shape}] are destroyed at the end of the line: store it in a variable"},
     .marked = {culprit::all},
     .causes = {"The elements of a function's result were taken in the line that computes it."},
     .fix = "Store the tensor in a variable that outlives the pointer or the span: `const tensor y = evaluate(x * 2); "
            "for (float v : y.values())`.",
     .example = "cache/keys_of_a_temporary"},
    {.id = "ERROR_R3_stored_order_lists_each_dimension_once",
     .title = "The order in which a file stores a parameter lists every dimension of the parameter once, and no other.",
     .seen = {"the stored order {types} does not list each of {have} once"},
     .marked = {culprit::differing},
     .causes = {"An axis of the file was left out or named twice.", "Several dimensions are one axis of the file."},
     .fix = "Write the file's axes from the slowest to the fastest, each with its dimension; several dimensions that "
            "are one axis of the file go `together<heads, d_k>`. For elements in another layout than the model's, an "
            "adapter "
            "replaces its dimension: `pairs_as_halves<d_k>`.",
     .example = "io/order_lacks_a_dimension"},
    // R4  Split and merge go through composites whose order and factors are part of the type.
    {.id = "ERROR_R4_extent_does_not_divide",
     .title = "The extents of a `divided` dimension do not divide.",
     .seen = {"`divided`: the extent of {first} is not divisible by that of {second}: {over_n}"},
     .marked = {culprit::over},
     .causes = {"The number of heads does not divide the width of the model.",
                "The two arguments of `divided` were swapped."},
     .fix = "Choose extents that divide, or declare the dimension with its own extent instead of `divided`.",
     .example = "dim/divided_upside_down"},
    {.id = "ERROR_R4_composite_has_other_factors_or_order",
     .title = "The dimension is a factor of a composite, or the composite has other factors or another order.",
     .seen = {"{op} names {over}, but the operand's {composites} has other factors or another order",
              "{op} names {over}, which has other factors or another order than the operand's",
              "{op}: {sides}: factors or their order differ"},
     .marked = {culprit::over, culprit::composites},
     .causes = {"The dimensions were merged in another order than they are split.",
                "A factor was named before the composite was split."},
     .fix = "Use the composite's own factors, in its order; `split` a composite before naming a factor of it.",
     .example = "contract/w_o_in_another_order"},
    {.id = "ERROR_R4_composite_is_not_the_declared_dimension",
     .title = "A composite differs from the declared dimension, even of the same extent: merged heads are not the "
              "model dimension, and W_O is missing.",
     .seen = {"{op}: {computed_only} is not {declared_only}, even of the same extent", "{op}: {changed}"},
     .marked = {culprit::differing},
     .causes = {"The output weight is missing after the heads were merged."},
     .fix = "Contract with the output weight (`contract<heads, d_v>(z, w_o)`), or declare the merged dimension.",
     .example = "assign/merged_in_another_order"},
};

}  // namespace dimwise::detail::messages
