# Says what can be built.
[ -e .busy ] && { echo "the cache is locked by another process" >&2; exit 75; }
echo "all, docs"
