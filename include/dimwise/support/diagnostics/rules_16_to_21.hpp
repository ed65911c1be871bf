// SPDX-License-Identifier: BSL-1.0
// dimwise/support/diagnostics/rules_16_to_21.hpp -- the errors of R16 to R21: indexing, packed positions and gradients.
//
// Layer: support. Entries of support/diagnostics.hpp, in the order of support/errors.hpp.
// Tests: tests/support/diagnostics.test.cpp
#pragma once

#include <dimwise/support/messages/diagnostic.hpp>

namespace dimwise::detail::messages {

inline constexpr diagnostic of_rules_16_to_21[] = {
    // R16  Query, key and value are told apart by their dimensions.
    {.id = "ERROR_R16_query_key_and_value_are_told_apart_by_dimensions",
     .title = "The operand of `scores` has other features: a value where a key belongs, or operands in another order.",
     .seen = {"{op} goes over {over}, but {lacking}: a value or a query where a key belongs?",
              "{op} over {over}: query, key and value are mixed up: {sides}",
              "{op}: query, key and value are mixed up: {sides}",
              "{op}: [{have}] lacks the dimensions of a query, a key or a value",
              "{op} over {over}: query, key and value are mixed up"},
     .marked = {culprit::lacking},
     .causes = {"Queries, keys and values were unpacked in another order than they were returned."},
     .fix = "Give `scores` the queries and the keys: both have the features it names. Values have their own "
            "features, `d_v`.",
     .example = "contract/values_for_keys"},
    // R17  A dimension occurs once per tensor.
    {.id = "ERROR_R17_dimension_occurs_twice",
     .title = "A dimension, or a factor of a composite, occurs twice.",
     .seen = {"{op}: {over} would occur twice in one tensor", "a tensor of [{shape}] lists {plain_dims} twice"},
     .marked = {culprit::over, culprit::twice},
     .causes = {"Input and output of a square weight have the same dimension.",
                "Queries and keys have the same position dimension."},
     .fix =
         "Give one of the two another name: `prime<D>` for the other positions, `out<D>` for the output of a weight.",
     .example = "dim/square_weight"},
    // R18  Indexing removes, slicing keeps.
    {.id = "ERROR_R18_single_element_meets_its_whole_dimension",
     .title = "One element of D meets a tensor that has D: `broadcast<D>` first, or `slice`.",
     .seen = {"{op} over {over}: one element of {indexed} meets a whole tensor of {indexed}",
              "{op}: one element of {indexed} meets a whole tensor of {indexed}",
              "{op} over {over}: one element meets its whole dimension"},
     .marked = {culprit::indexed},
     .causes = {"`at` was used where `slice` or `broadcast` was meant."},
     .fix = "`slice` keeps the dimension. To use one element for all: `broadcast<D>` first.",
     .example = "elementwise/one_position"},
    {.id = "ERROR_R18_more_elements_than_the_dimension_has",
     .title = "More elements are requested than the dimension has.",
     .seen = {"{op} takes more elements of {first} than there are: {over_n}"},
     .marked = {culprit::over},
     .causes = {"The number of best elements is larger than the number of alternatives."},
     .fix = "Request at most as many as the dimension has.",
     .example = "reduce/more_than_there_are"},
    {.id = "ERROR_R18_ids_index_their_own_dimension_only",
     .title = "An `id<D>` indexes D only: neither another dimension nor arithmetic takes it.",
     .seen = {"{op} takes an element of {over} by an id of {ids}",
              "{op} takes ids of {over_of_second} for {over_of_first}",
              "{op} computes with ids, which only index: [{lhave}] and [{rhave}]",
              "{op} over {over} computes with ids, which only index",
              "{op} computes with ids of [{have}], which only index", "{op} computes with ids, which only index"},
     .marked = {culprit::over},
     .causes = {"An id of another vocabulary or dimension was used.",
                "Ids were added, compared with numbers, or replaced by 0."},
     .fix = "Use an id of this dimension. To compute with the values of ids, read them from a table: "
            "`gather<vocab>(table, ids)`.",
     .example = "choose/ids_at_most"},
    {.id = "ERROR_R18_ids_of_a_composite_are_split_first",
     .title =
         "An id of a product selects an element of each factor: `split` the operand and `split_ids` the ids, or take "
         "the `part`.",
     .seen = {"{op} takes one id for {over}, which is a composite"},
     .marked = {culprit::over},
     .causes = {"The result of a search over a merged dimension was used as one index."},
     .fix = "`auto [beams, words] = split_ids(ids, beam{n}, word{m})`, then index each factor: "
            "`gather<word>(gather<beam>(split<beam, word>(x), beams), words)`. For a summed dimension, take the part: "
            "`at<cls>(part<cls>(x), 0)`. Ids along the composite itself reorder it as a whole.",
     .example = "index/element_of_a_composite"},
    {.id = "ERROR_R18_slice_of_a_composite_names_a_plain_dimension",
     .title = "A slice of a composite is a plain dimension, which the call names: `slice<merged<a, b>, "
              "rows>(x, first, count)`.",
     .seen = {"{op} cuts {over}, which is a composite, and does not name the dimension of the result"},
     .marked = {culprit::over},
     .causes = {"A slice of a merged dimension was taken under the merged name."},
     .fix = "Declare a plain dimension for the result: `slice<merged<beam, word>, best>(x, first, count)`.",
     .example = "index/slice_of_a_composite"},
    {.id = "ERROR_R18_slice_of_a_static_extent_names_its_result",
     .title = "The extent changes: `slice<D, Result>(x, first)`.",
     .seen = {"{op} cuts {over_n}, whose extent is static, and does not name the dimension of the result"},
     .marked = {culprit::over},
     .causes = {"The static extent would be wrong after the slice."},
     .fix = "`slice<D, Result>(x, first)`, where Result has the extent of the slice.",
     .example = "index/slice_of_a_static_extent"},
    {.id = "ERROR_R18_slice_is_longer_than_its_dimension",
     .title = "The result's static extent is larger than the dimension's.",
     .seen = {"{op}: the result is longer than the dimension: {over_n}"},
     .marked = {culprit::over},
     .causes = {"Source and result of the slice were swapped."},
     .fix = "Declare a result with an extent that fits.",
     .example = "index/slice_too_long"},
    {.id = "ERROR_R18_slice_has_another_kind",
     .title = "A slice of features has the kind of features: use `relabel` to change it.",
     .seen = {"{op} cuts {second} out of {first}, which has another kind"},
     .marked = {culprit::over},
     .causes = {"Features were cut out as positions, or positions as features."},
     .fix = "Declare the result with the kind of its source, or `relabel` it.",
     .example = "index/slice_of_another_kind"},
    {.id = "ERROR_R18_element_is_taken_by_one_id_of_each_dimension",
     .title = "One element is selected by one id of each dimension: `x(id<seq>{1}, id<d_model>{0})`.",
     .seen = {"an element of [{have}] is selected by one id of each dimension, but given is {over}",
              "an element of [{have}] is selected by one id of each dimension"},
     .marked = {culprit::over},
     .causes = {"The element was indexed by plain numbers, as in NumPy.", "An id of one dimension is missing."},
     .fix = "Give one id of each dimension, in any order: `x(id<seq>{1}, id<d_model>{0})`. `at<seq>(x, 1)` selects a "
            "part.",
     .example = "tensor/element_by_numbers"},
    // R19  What mixes packed positions needs their documents.
    {.id = "ERROR_R19_packed_positions_need_their_documents",
     .title = "Positions of several documents would mix: mask with `document<…>`.",
     .seen = {"{op} would mix positions of several documents in {over}",
              "{op} of [{have}] would mix positions of several documents"},
     .marked = {culprit::over},
     .causes = {"The document mask was forgotten, or only a causal mask was given.",
                "A cache or a mean goes over several documents."},
     .fix = "Mask with `document<Q, K>{}` before softmax or reduction; combine it with others by `&`. If no such mask "
            "fits (`prefix`, windows, the mean of one document), slice the document and relabel its positions: "
            "`relabel<packed_seq, seq>(slice<packed_seq>(x, first, count))`, or give the mask element by element.",
     .example = "mask/packed_and_causal"},
    {.id = "ERROR_R19_mean_over_all_documents_says_so",
     .title = "The mean of a loss would go over the positions of all documents: pass `all_documents{}`.",
     .seen = {"{op} takes the mean over the documents of {over} without `all_documents`"},
     .marked = {culprit::over},
     .causes = {"The loss of packed documents was averaged like that of one document."},
     .fix = "`cross_entropy<vocab>(logits, words, all_documents{})`, if the mean over all documents is meant.",
     .example = "grad/mean_over_documents"},
    // R21  A loss is one number, and an operation without a derivative is rejected by name.
    {.id = "ERROR_R21_operation_has_no_gradient",
     .title = "The operation has no derivative, or an unknown one: take its operand as a constant by "
              "`detached(x)`.",
     .seen = {"{op} of [{have}] has no known derivative", "{op} has no known derivative"},
     .marked = {culprit::all},
     .causes = {"The model calls an operation that has no derivative, such as a rounding.",
                "A user-defined function does not define its derivative."},
     .fix = "Take its operand as a constant, `detached(x)`, or define the derivative of your function, a member "
            "`derivative(x)`.",
     .example = "grad/dequantised_by_a_trained_scale"},
    {.id = "ERROR_R21_loss_is_one_number",
     .title = "A loss is one number: a mean or a sum that names its dimensions.",
     .seen = {"the loss is not a single number: it still has [{have}]",
              "the loss is not a single number: it is {shapes}"},
     .marked = {culprit::all},
     .causes = {"The mean over the batch, or over the positions, is missing."},
     .fix = "Name every dimension that the loss is averaged over, `mean<batch, seq>(…)`, the classes of a distribution "
            "too.",
     .example = "grad/loss_of_many_numbers"},
    {.id = "ERROR_R21_model_has_no_parameters",
     .title = "The model has no tensor of real numbers to differentiate with respect to.",
     .seen = {"the model {types} has no real numbers to differentiate with respect to"},
     .marked = {culprit::types},
     .causes = {"The ids were given instead of the table of their vectors.", "The members of a module are not listed."},
     .fix = "Differentiate with respect to a tensor of real numbers, a module with parameters, or a tuple of them.",
     .example = "grad/model_without_parameters"},
    {.id = "ERROR_R21_member_hides_its_parameters",
     .title =
         "The second type is a member of the first, and has parameters that no traversal finds: it is neither a module "
         "nor a tensor, nor a std::vector, std::array or std::tuple of them.",
     .seen = {"a member has parameters that no traversal finds: {types}"},
     .marked = {culprit::types},
     .causes = {"A layer is held in a `std::optional`, a pointer or another type that is not a module."},
     .fix = "Make the layer a member, or hold several in a `std::vector`, `std::array` or `std::tuple`; use a "
            "`bool` to switch it off.",
     .example = "grad/optional_layer"},
    {.id = "ERROR_R21_module_does_not_take_its_element_type",
     .title = "The second is a part of the first, or the first is the whole model: its elements keep their type when "
              "the model is tracked, so it would not be trained.",
     .seen = {"the elements of a part keep their type when the model is tracked, so it would not be trained: {types}"},
     .marked = {culprit::types},
     .causes = {"The module, or one of its members, is fixed to `float`."},
     .fix = "Make the module a template over its element type, and pass that type to each member: `template <class T = "
            "float> struct m`, `nn::linear<…, T>`. A module with other arguments declares `template <class U> using "
            "rebind "
            "= m<3, U>;`. Keep tensors that are not trained outside the model, or `detached` in the formula.",
     .example = "grad/member_of_floats"},
    {.id = "ERROR_R21_model_is_a_module_with_named_members",
     .title = "A model is a module, which lists its members, or a list or tuple of modules: nothing else has named "
              "parameters.",
     .seen = {"{op} takes a module, but {types} is not a module", "{op} takes a module"},
     .marked = {culprit::types},
     .causes = {"The struct does not list its members.", "The arguments are in another order.",
                "A tensor that is part of no module was given."},
     .fix =
         "List the members: `using members = nn::member_list<&name::member, …>;`. `for_each_parameter` takes the "
         "model first and the function second, `for_each_parameter_of` the function first; the second takes a tensor, "
         "and a tuple of tensors, as a model.",
     .example = "nn/walk_over_a_plain_struct"},
    {.id = "ERROR_R21_walk_calls_its_function_with_a_name_and_parameters",
     .title =
         "A walk over the parameters of models calls its function with their name and one parameter of each model.",
     .seen = {"{op} calls its function with a name and {types}", "{op} calls its function with a name and parameters"},
     .marked = {culprit::types},
     .causes = {"The function does not take the name.", "It takes parameters of fewer or more models.",
                "It takes one type of tensor, and the model has others."},
     .fix =
         "Give a function of the name and one parameter of each model: `[](const std::string& name, auto& parameter, "
         "const auto& gradient) { … }`. Parameters of a constant model are `const auto&`.",
     .example = "nn/walk_with_a_function_without_the_name"},
    {.id = "ERROR_R21_loss_takes_the_model_with_tracked_elements",
     .title = "A loss is called with the model with tracked elements, which is of another type than the model.",
     .seen = {"the loss cannot be called with the tracked model {over}",
              "the loss cannot be called with the tracked model"},
     .marked = {culprit::over},
     .causes = {"The loss takes the type of the plain model instead of `const auto&`.",
                "Its call operator is deleted, private or not `const`."},
     .fix = "Give a function of the model, whatever its elements are: `[&](const auto& m) { … m(x) … }`. The call "
            "operator "
            "of a class of your own is public, `const` and a template.",
     .example = "grad/loss_with_a_deleted_call"},
    {.id = "ERROR_R21_loss_has_no_tracked_operand",
     .title = "The loss does not depend on the model through tracked tensors: its gradient would be zero.",
     .seen = {"the loss [{have}] does not depend on the model that is passed to it",
              "the loss {types} does not depend on the model that is passed to it",
              "the loss does not depend on the model that is passed to it"},
     .marked = {culprit::all, culprit::types},
     .causes = {"The loss uses the model of the surrounding scope instead of its argument.",
                "The loss uses ids of the largest logits, or `detached` values.",
                "A step of the loss is stored in a `tensor<float, …>` or a `float`, which another error reports."},
     .fix =
         "Use the model that is passed to the loss, not the one outside: `[&](const auto& m) { … m(x) … }`. `argmax`, "
         "comparisons and `detached` end a gradient: a loss takes the logits or their softmax, not the ids of the "
         "largest. Steps are stored as `tensor y = expr;` or `const auto`.",
     .example = "grad/loss_of_constants"},
    {.id = "ERROR_R21_loss_has_other_elements_than_the_model",
     .title = "The loss has another element type than the model: an operand of the model has wider elements.",
     .seen = {"{op}: the model has elements of {declared}, the loss of {computed}"},
     .marked = {culprit::differing},
     .causes = {"Targets were read as `double`, and the model has elements of `float`."},
     .fix =
         "Convert the operand to the model's element type outside the loss: `const tensor targets = map([](double v) { "
         "return static_cast<float>(v); }, from_file);`. Or train a model of `double`: `converted<double>(model)`.",
     .example = "grad/answers_of_wider_elements"},
    {.id = "ERROR_R21_declared_type_drops_the_gradient",
     .title = "The declared type has plain elements, and the expression tracked ones: the gradient would end here.",
     .seen = {"{op} of [{have}]: the declared type has elements of {declared}, so the gradient of {computed} would end "
              "here",
              "{op}: the declared type has elements of {declared}, so the gradient of {computed} would end here"},
     .marked = {culprit::differing},
     .causes = {"A step of the loss was stored in a tensor of `float`. If that was the only step, the call that "
                "differentiates the loss reports that nothing is tracked as well."},
     .fix = "Deduce the type: `tensor y = expr;` keeps the gradient. `detached(expr)` takes the value as a constant, "
            "if the gradient is to end there.",
     .example = "grad/tracked_into_plain"},
    {.id = "ERROR_R21_gradients_of_gradients_are_not_recorded",
     .title = "The model is tracked already: gradients of gradients are not recorded.",
     .seen = {"the model {types} is tracked already: gradients of gradients are not recorded"},
     .marked = {culprit::types},
     .causes = {"`value_and_gradient` was called inside a loss."},
     .fix = "Differentiate with respect to a model that is not tracked: outside the loss, or with `detached(x)`.",
     .example = "grad/second_order"},
};

}  // namespace dimwise::detail::messages
