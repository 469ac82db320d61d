/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be asked at the control socket. The commands and their answers stand in README.md. */

#ifndef COMMANDS_H
#define COMMANDS_H

/* Do what a line asks; the answer, without the end of the line. The line is cut to pieces. */
const char *command_do(char *line);

#endif
