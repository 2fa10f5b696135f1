# Compiler and linker hardening of shipped programs. Not for tests: some are compiled with -O0, where
# _FORTIFY_SOURCE only warns. Not with sanitizers: they check more, and their interceptors do not know
# the functions of _FORTIFY_SOURCE.
option(RANKWRIGHT_HARDENING "Harden optimized programs: stack protector, fortified libc calls, RELRO" ON)

include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
set(hardening_options -fstack-protector-strong)
foreach(flag -fstack-clash-protection -fcf-protection=full)  # not available on every processor
  string(MAKE_C_IDENTIFIER "RANKWRIGHT_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    list(APPEND hardening_options ${flag})
  endif()
endforeach()
# Compilers of some distributions define _FORTIFY_SOURCE themselves; a second definition is an error.
list(APPEND hardening_options -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)

# rankwright_harden(TARGET): compiles TARGET with the options above, and links it with them if it is a
# program or a module. Builds with sanitizers keep their flags.
function(rankwright_harden target)
  if(NOT RANKWRIGHT_HARDENING OR RANKWRIGHT_SANITIZE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set(optimized $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  target_compile_options(${target} PRIVATE "$<${optimized}:${hardening_options}>")
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(EXECUTABLE|MODULE_LIBRARY|SHARED_LIBRARY)$")
    target_link_options(${target} PRIVATE
      "$<${optimized}:LINKER:-z,relro,-z,now,-z,noexecstack>")
  endif()
endfunction()
