# rankwright_group_sources(TARGET SIZE): compiles the sources of each top folder, such as rankwright/report,
# in groups of at most SIZE.
# Most of a small source's compile time is its headers, and a group reads them once. Names in the unnamed
# namespaces of a folder must therefore be unique. The preset `tidy` compiles every source alone, so a
# missing include is found. A source with the property RANKWRIGHT_ALONE is in no group.
#
# CMake's own unity builds do the same with absolute paths, which a compiler cache cannot share between
# two checkouts; a group here includes its sources by their path in the repository.
option(RANKWRIGHT_GROUPS "Compile sources in groups, one folder each" ON)

function(rankwright_group_sources target size)
  if(NOT RANKWRIGHT_GROUPS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(directory ${target} SOURCE_DIR)
  set(others "")
  set(groups "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} OUTPUT_VARIABLE path)
    get_source_file_property(alone ${path} TARGET_DIRECTORY ${target} RANKWRIGHT_ALONE)
    if(alone OR NOT path MATCHES "^${PROJECT_SOURCE_DIR}/(rankwright|cli|tests)/.*\\.cc$")
      list(APPEND others ${source})  # generated data and objects
      continue()
    endif()
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REGEX REPLACE "^([^/]+)/([^/]+)/.*" "\\1_\\2" folder ${path})
    string(REGEX REPLACE "^([^/]+)/[^/]*$" "\\1" folder ${folder})
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR number "${count_${folder}} / ${size}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set(group ${folder}_${number})
    list(APPEND groups ${group})
    string(APPEND text_${group} "#include \"${path}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_groups/${group}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}}")
    list(APPEND others ${file})
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${others}")
endfunction()
