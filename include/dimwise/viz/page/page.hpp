// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/page/page.hpp -- the pages of reports: their style, their elements and their programs.
//
// Layer: viz. Style, elements and program are files of their own, beside this header. Their first and last line make
// each a raw string, so that a program that includes the header needs neither a build step nor the files when it runs.
// The program reads the data of the page as JSON, writes words as text only, and uses no network. A model in the page
// gets the settings as text and answers as JSON; without one, or where it does not run, stored runs are shown.
// Tests: tests/viz/report.test.cpp, tests/viz/report_browser.mjs
#pragma once

namespace dimwise::detail {

inline constexpr const char* report_style =
#include <dimwise/viz/page/report.css>
    ;

// The elements without data; the program fills them and hides those that stay empty.
inline constexpr const char* report_settings =
#include <dimwise/viz/page/settings.html>
    ;
inline constexpr const char* report_body =
#include <dimwise/viz/page/body.html>
    ;

inline constexpr const char* report_program =
#include <dimwise/viz/page/report.js>
    ;
// Of a page of a training: it loads itself again.
inline constexpr const char* training_program =
#include <dimwise/viz/page/training.js>
    ;

}  // namespace dimwise::detail
