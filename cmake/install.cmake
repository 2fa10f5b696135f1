# What `cmake --install` puts where. Four components: cli, the tool with all that people read;
# runtime, the program that `rankwright run` and `probe` hand over to; dev, the library; and python, the
# module, which python/CMakeLists.txt installs.
include(CMakePackageConfigHelpers)

install(TARGETS rankwright_exe DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cli)
install(FILES CHANGELOG.md README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT cli)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT cli)
foreach(row cli:rankwright runtime:rankwright-runtime dev:librankwright-dev)
  string(REPLACE ":" ";" row ${row})
  list(GET row 0 component)
  list(GET row 1 package)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright
    COMPONENT ${component})
endforeach()

# Completions, each where its shell looks: Debian's zsh has a folder of its own for packages.
set(RANKWRIGHT_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions CACHE STRING
  "Folder of zsh's completions; share/zsh/site-functions where zsh is not Debian's")
foreach(row
    bash:${CMAKE_INSTALL_DATADIR}/bash-completion/completions:rankwright
    zsh:${RANKWRIGHT_ZSH_DIR}:_rankwright
    fish:${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d:rankwright.fish)
  string(REPLACE ":" ";" row ${row})
  list(GET row 0 shell)
  list(GET row 1 folder)
  list(GET row 2 name)
  install(FILES cli/shells/rankwright.${shell} DESTINATION ${folder} RENAME ${name} COMPONENT cli)
endforeach()

# Manual pages: the program writes its own. A build with sanitizers is for its makers.
if(NOT RANKWRIGHT_SANITIZE)
  set(man_pages ${PROJECT_BINARY_DIR}/man1)
  set(script ${PROJECT_SOURCE_DIR}/cmake/man_pages.cmake)
  add_custom_command(OUTPUT ${man_pages}/rankwright.1
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:rankwright_exe> -DFOLDER=${man_pages}
      -P ${script}
    DEPENDS rankwright_exe ${script}
    COMMENT "Writing the manual pages"
    VERBATIM)
  add_custom_target(rankwright_man_pages ALL DEPENDS ${man_pages}/rankwright.1)
  install(DIRECTORY ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT cli)
endif()

if(TARGET rankwright_runtime_exe)
  # libexec by its name: cli/run/exec_runtime.cc looks there, from where rankwright itself lies.
  install(TARGETS rankwright_runtime_exe DESTINATION libexec COMPONENT runtime)
  install(TARGETS rankwright_loopback LIBRARY DESTINATION libexec COMPONENT runtime)
endif()

# The bill of materials of each package: versions are those of Debian's packages.
find_program(RANKWRIGHT_DPKG_QUERY dpkg-query)
find_program(RANKWRIGHT_SBOM_PYTHON python3)
if(RANKWRIGHT_DPKG_QUERY AND RANKWRIGHT_SBOM_PYTHON AND NOT RANKWRIGHT_SANITIZE)
  function(rankwright_install_sbom component package)
    string(JOIN " " arguments ${ARGN})
    install(CODE "execute_process(COMMAND ${RANKWRIGHT_SBOM_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/make_sbom
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/doc/${package}/${package}.cdx.json\"
      ${arguments} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
  endfunction()
  set(page "")
  if(RANKWRIGHT_PAGE_BUILT)
    set(page --page ${PROJECT_SOURCE_DIR}/web)
  endif()
  rankwright_install_sbom(cli rankwright $<TARGET_FILE:rankwright_exe> ${page})
  if(TARGET rankwright_runtime_exe)
    rankwright_install_sbom(runtime rankwright-runtime $<TARGET_FILE:rankwright_runtime_exe>
      $<TARGET_FILE:rankwright_loopback>)
  endif()
endif()

# A static library needs at its end what it was linked with; flags and the page are in it already.
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Rankwright)
install(TARGETS rankwright EXPORT RankwrightTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY rankwright DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.h" PATTERN runtime EXCLUDE)
install(EXPORT RankwrightTargets NAMESPACE Rankwright:: DESTINATION ${cmake_folder} COMPONENT dev)
configure_package_config_file(cmake/RankwrightConfig.cmake.in
  ${PROJECT_BINARY_DIR}/RankwrightConfig.cmake INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RankwrightConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/RankwrightConfig.cmake
  ${PROJECT_BINARY_DIR}/RankwrightConfigVersion.cmake
  DESTINATION ${cmake_folder} COMPONENT dev)
