// One CUE module, evaluated once: a request as JSON on standard input, the answer as JSON on standard output.
// Exit code 1 says that it could not do its work; 2, as Go has it, that the module took more memory or stack than there is.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if err := confine(); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(os.Stdin, maxRequest+1))
	if err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	if len(text) > maxRequest {
		return fmt.Errorf("the request has more than %d bytes", maxRequest)
	}
	_, err = os.Stdout.Write(answer(text))
	return err
}
