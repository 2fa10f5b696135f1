# Debian packages: run `cpack` in the build folder of the preset `package`. Their dependencies are the
# libraries that dpkg-shlibdeps finds, plus what no program links: MPI's launcher, headers.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rankwright)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Rankwright's maintainers <rankwright@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_CLI_PACKAGE_NAME rankwright)
set(CPACK_DEBIAN_CLI_PACKAGE_SECTION science)
set(CPACK_DEBIAN_CLI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CLI_PACKAGE_SUGGESTS rankwright-runtime)
set(CPACK_COMPONENT_CLI_DESCRIPTION "layouts for training large models
Finds, checks, explains and compares the parallel layouts of a training job:
which ranks share a layer, a sequence or a batch, where they sit, and what
that costs in time and memory. Writes the files of frameworks and launchers.")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME rankwright-runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS
  "rankwright (= ${PROJECT_VERSION}), openmpi-bin, libopenblas0")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "runs and measures the layouts of rankwright
What rankwright run and rankwright probe hand over to: trains with the ranks
of a plan under MPI, and measures machines and their links.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME librankwright-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libfmt-dev, libexpected-dev, nlohmann-json3-dev, libyaml-cpp-dev, libpugixml-dev, libtbb-dev")
set(CPACK_COMPONENT_DEV_DESCRIPTION "library of rankwright, static, with its headers
The cost model, the rules and the search behind rankwright, for C++20.
CMake finds it as Rankwright::rankwright.")

set(CPACK_COMPONENTS_ALL cli dev)
if(TARGET rankwright_runtime_exe AND RANKWRIGHT_RUNTIME_NCCL)
  # A package that depends on libraries outside Debian could not be installed.
  message(STATUS "Packages: without the runtime, whose NCCL may not be Debian's (preset package)")
elseif(TARGET rankwright_runtime_exe)
  list(APPEND CPACK_COMPONENTS_ALL runtime)
endif()
include(CPack)
