# Compiler and linker hardening of the programs that are shipped. Tests are left out: some are compiled
# with -O0, where _FORTIFY_SOURCE does nothing but warn. Sanitizers check more than this, and their
# interceptors do not know the functions of _FORTIFY_SOURCE.
option(RANKWRIGHT_HARDENING "Harden optimized programs: stack protector, fortified libc calls, RELRO" ON)

include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
set(hardening_options -fstack-protector-strong)
foreach(flag -fstack-clash-protection -fcf-protection=full)  # not on every processor
  string(MAKE_C_IDENTIFIER "RANKWRIGHT_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    list(APPEND hardening_options ${flag})
  endif()
endforeach()
# Compilers of some distributions set _FORTIFY_SOURCE themselves; a second definition is an error.
list(APPEND hardening_options -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)

# rankwright_harden(TARGET): compiles TARGET, and links it where it is a program or a module, with the
# options above. Builds with sanitizers keep their flags.
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
