# rankwright_group_sources(TARGET SIZE): compiles the sources of each folder in groups of at most SIZE
# (CMake's unity build). Most of a small source's compile time is its headers, and a group reads them
# once. Names in the unnamed namespaces of a folder must therefore be unique. The preset `tidy` compiles
# every source alone, so a missing include does not stay hidden.
option(RANKWRIGHT_GROUPS "Compile sources in groups, one folder each" ON)

function(rankwright_group_sources target size)
  if(NOT RANKWRIGHT_GROUPS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(directory ${target} SOURCE_DIR)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} OUTPUT_VARIABLE path)
    if(NOT path MATCHES "^${PROJECT_SOURCE_DIR}/(rankwright|cli|tests)/")
      continue()  # generated: data, in which no header costs anything
    endif()
    cmake_path(GET path PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${size}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES
      UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
