find "$1" -name "*.txt" -exec cat {} + | wc -w
