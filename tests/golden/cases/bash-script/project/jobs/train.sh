echo trained "$@"
