// promrules reads rules and expressions as Prometheus does, and says what is wrong with them.
//
//	promrules rules < RULES.yaml           groups of rules, as a file of rules has them
//	promrules expressions < LIST.json      a list of expressions
//
// One line on stdout for each fault, and exit code 1. The stock promtool would link every cloud's
// SDK.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func faultsOfRules(text []byte) []error {
	_, faults := rulefmt.Parse(text, false)
	return faults
}

func faultsOfExpressions(text []byte) []error {
	var expressions []string
	if err := json.Unmarshal(text, &expressions); err != nil {
		return []error{fmt.Errorf("read the list of expressions: %w", err)}
	}
	var faults []error
	for _, expression := range expressions {
		if _, err := parser.ParseExpr(expression); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", expression, err))
		}
	}
	return faults
}

func main() {
	checks := map[string]func([]byte) []error{
		"rules": faultsOfRules, "expressions": faultsOfExpressions,
	}
	if len(os.Args) != 2 || checks[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: promrules rules|expressions < FILE")
		os.Exit(2)
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "promrules: read stdin:", err)
		os.Exit(2)
	}
	faults := checks[os.Args[1]](text)
	for _, fault := range faults {
		fmt.Println(fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}
