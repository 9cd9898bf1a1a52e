// kind, as it is released: clusters whose nodes are containers.
package main

import "sigs.k8s.io/kind/cmd/kind/app"

func main() {
	app.Main()
}
