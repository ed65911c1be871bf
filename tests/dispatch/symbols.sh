#!/bin/sh
# symbols.sh OBJECT…: an inline function compiled for a newer processor must not be shared with files for an older one. The linker keeps
# one copy of each weak symbol, so each one that kernels_<architecture>.cpp.o defines names that architecture, or the configuration of
# that file (library_<architecture>). A version script hides symbols of a shared library; these meet before, in a static one.
status=0
for object; do
  architecture=$(basename "$object" | sed -nE 's/^kernels_(.*)\.cpp\.o$/\1/p')
  case "$architecture" in # demangled, or as clang mangles constrained templates, which nm does not read
    sse2) own='xsimd::sse2[^a-z0-9_]|^_Z.*4sse2E' ;;
    sse4) own='xsimd::sse4_2[^a-z0-9_]|^_Z.*6sse4_2E' ;;
    avx2) own='xsimd::fma3<xsimd::avx2>|^_Z.*4fma3I[A-Za-z0-9_]*4avx2E' ;;
    avx512) own='xsimd::avx512bw[^a-z0-9_]|^_Z.*8avx512bwE' ;;
    avx512vnni | avx512bf16) own='^$' ;; # the registers of avx512, so the configuration alone tells them apart
    *) echo "$object: this script does not know its architecture"; exit 2 ;;
  esac
  symbols=$(nm --demangle --defined-only "$object")
  if [ -z "$symbols" ]; then
    echo "$object: nm finds no symbols"
    exit 2
  fi
  # DW.ref.…: pointers to the runtime's own functions, the same in every file.
  leaks=$(echo "$symbols" | sed -nE 's/^[0-9a-f]* +[WVu] //p' | grep -vE "$own|library_$architecture([^a-z]|$)|^DW\.ref\.__[a-z_0-9]+_personality_v0$")
  if [ -n "$leaks" ]; then
    echo "$leaks" | sed "s|^|$(basename "$object"): a weak symbol without its architecture: |"
    status=1
  fi
done
exit $status
