// go test
package main

import (
	"encoding/base64"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestVectors(t *testing.T) {
	file, err := os.ReadFile("../vectors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")[1:]
	for _, line := range lines {
		fields := strings.Split(line, "\t")
		t.Run(fields[0], func(t *testing.T) {
			now, _ := strconv.ParseInt(fields[2], 10, 64)
			body, _ := base64.StdEncoding.DecodeString(fields[5])
			if got := Verify(fields[4], body, fields[3], time.Unix(now, 0)); got != (fields[1] == "yes") {
				t.Errorf("Verify answered %v", got)
			}
		})
	}
}
