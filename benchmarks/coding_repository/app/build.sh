# Builds, from its own folder.
echo "built $1"
