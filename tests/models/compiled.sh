#!/bin/sh
# compiled.sh OBJECT…: a program that links dimwise::models compiles none of its formulas. An object that reads and computes a decoder
# refers to these functions and does not define them.
for object; do
  symbols=$(nm --demangle "$object")
  for function in 'decoder<dimwise::models::decoder_dims, float> dimwise::models::read_decoder' \
    'next_logits<'; do
    if ! echo "$symbols" | grep -qE " U .*$function"; then
      echo "$object: it does not take $function from the library"
      exit 1
    fi
  done
  compiled=$(echo "$symbols" | grep -E '^[0-9a-f]+ [TWVu] .*models::(decoder_block|decoder_attention)<.*>::operator\(\)')
  if [ -n "$compiled" ]; then
    echo "$compiled" | sed "s|^|$(basename "$object"): compiled again: |"
    exit 1
  fi
done
