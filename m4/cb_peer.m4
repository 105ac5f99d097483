# CB_PEER(NAME, SHELL-NAME, WHAT, CHECK)
#
# --with-NAME builds the plug-in with WHAT beside ours. CHECK runs when it is
# wanted and sets found=yes when it can be built. Sets with_SHELL-NAME to yes
# or no.
AC_DEFUN([CB_PEER],
  [AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1], [build the peer: $3])],
    [], [with_$2=$peers])
  AS_IF([test "x$with_$2" != xno],
    [found=no
     $4
     AS_IF([test "x$found$with_$2" = xnoyes],
       [AC_MSG_ERROR([$1 was asked for but not found ($3)])])
     with_$2=$found])])
