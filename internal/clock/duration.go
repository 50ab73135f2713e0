package clock

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

var longUnits = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)([dw])`)

// ParseDuration accepts Go's duration syntax, days ("d", 24 hours), and weeks ("w", 7 days): "90m", "30d", "1w12h".
func ParseDuration(s string) (time.Duration, error) {
	inHours := longUnits.ReplaceAllStringFunc(s, func(part string) string {
		hours := 24.0
		if part[len(part)-1] == 'w' {
			hours = 7 * 24
		}
		number, _ := strconv.ParseFloat(part[:len(part)-1], 64) // The pattern allows only numbers.
		return strconv.FormatFloat(number*hours, 'f', -1, 64) + "h"
	})
	d, err := time.ParseDuration(inHours)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration; write a number with a unit (s, m, h, d or w)", s)
	}
	return d, nil
}
