// SPDX-License-Identifier: BSL-1.0
// dimwise/models/encoder/convolution.hpp -- DeBERTa's convolution over neighbouring tokens (He et al. 2021), after the
// first layer.
//
// Layer: models.
// Tests: tests/models/encoders/deberta.test.cpp
#pragma once

#include <dimwise/models/encoder/blocks.hpp>

#include <algorithm>

namespace dimwise::models {

/// norm(x + f(convolution of the features that enter the first layer)), where x leaves this layer. Neighbours outside
/// of a text are zeros.
template <class Dims>
struct token_convolution {
  using d_model = typename Dims::d_model;
  using channels = typename Dims::channels;
  using taps = typename Dims::taps;
  using features_type = tensor<float, packed_tokens, d_model>;
  using weight_type = tensor<float, taps, channels, d_model>;
  using bias_type = tensor<float, d_model>;
  using norm_type = any_norm<d_model>;

  weight_type weight{};
  bias_type bias{};
  activation_kind activation{};
  norm_type norm{};
  using members = nn::member_list<&token_convolution::weight, &token_convolution::bias, &token_convolution::activation,
                                  &token_convolution::norm>;

  [[nodiscard]] features_type operator()(const features_type& entering, const features_type& x,
                                         const packed_tokens& tokens) const {
    const features_type mixed = contract<taps, channels>(neighbours(entering, tokens), weight) + bias;
    return norm(features_type(x + activated(activation, mixed)));
  }

 private:
  // The features of as many tokens as there are taps, with each token in the middle.
  [[nodiscard]] tensor<float, packed_tokens, taps, channels> neighbours(const features_type& x,
                                                                        const packed_tokens& tokens) const {
    const std::size_t count = extent_of<taps>(weight);
    const std::size_t width = extent_of<channels>(weight);
    tensor<float, packed_tokens, taps, channels> all(tokens, extent_in<taps>(weight), extent_in<channels>(weight));
    const float* text = x.data();
    float* to = all.overwrite();
    for (const std::size_t length : tokens.documents()) {
      for (std::size_t i = 0; i < length; ++i) {
        for (std::size_t tap = 0; tap < count; ++tap, to += width) {
          const std::size_t after = i + tap;  // of the neighbour, counted from half a window before the text
          const bool inside = after >= count / 2 && after - count / 2 < length;
          if (inside) {
            std::copy_n(text + (after - count / 2) * width, width, to);
          } else {
            std::fill_n(to, width, 0.0F);
          }
        }
      }
      text += length * width;
    }
    return all;
  }
};

}  // namespace dimwise::models
