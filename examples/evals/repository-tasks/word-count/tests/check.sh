set -eu
mkdir -p empty
[ "$(sh count.sh data | tr -d " ")" = 4 ]
[ "$(sh count.sh empty | tr -d " ")" = 0 ]
