package main

import (
	"strings"

	"cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"
)

const maxNesting = 200

// nesting tells how deep the brackets and operators of a text nest: the parser calls itself for each, and knows no limit.
func nesting(name, text string) int {
	var s scanner.Scanner
	s.Init(token.NewFile(name, -1, len(text)), []byte(text), nil, 0)
	depth, operators, deepest := 0, 0, 0
	var begun []int // the depths at which interpolations began
	for {
		_, tok, _ := s.Scan()
		switch {
		case tok == token.EOF:
			return deepest
		case isOperator(tok):
			operators++
		default:
			operators = 0
		}
		switch tok {
		case token.INTERPOLATION:
			begun = append(begun, depth)
		case token.LBRACE, token.LBRACK, token.LPAREN:
			depth++
		case token.RBRACE, token.RBRACK, token.RPAREN:
			depth--
			begun = resume(&s, tok, depth, begun)
		}
		deepest = max(deepest, depth+operators)
	}
}

// resume goes on with the string whose interpolation a parenthesis ends.
func resume(s *scanner.Scanner, tok token.Token, depth int, begun []int) []int {
	last := len(begun) - 1
	if tok != token.RPAREN || last < 0 || begun[last] != depth {
		return begun
	}
	if strings.HasSuffix(s.ResumeInterpolation(), "(") {
		return begun
	}
	return begun[:last]
}

func isOperator(tok token.Token) bool {
	switch tok {
	case token.ADD, token.SUB, token.MUL, token.NOT, token.LSS, token.LEQ, token.GTR, token.GEQ, token.NEQ, token.MAT, token.NMAT:
		return true
	}
	return false
}
