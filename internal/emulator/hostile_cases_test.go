package emulator_test

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// What most attacks send. The body creates a computer where it is accepted.
const (
	withKey  = "Host: HOST\r\nAuthorization: Bearer KEY\r\n"
	withJSON = withKey + "Content-Type: application/json\r\n"
	toCreate = "POST " + computers + " HTTP/1.1\r\n" + withJSON
	made     = `{"name":"made"}`
	chunked  = toCreate + "Transfer-Encoding: chunked\r\n\r\n"
	// tooLong is more than the headers of a request may have; little more, lest the sender is cut off while it writes.
	tooLong = http.DefaultMaxHeaderBytes + 16<<10
	// tooMuch is more than a body may have.
	tooMuch = 1<<20 + 1
)

// get is a request with the manager's key.
func get(path string) string { return "GET " + path + " HTTP/1.1\r\n" + withKey + "\r\n" }

// withoutKey is a request with some headers.
func withoutKey(line string, headers ...string) string {
	return line + " HTTP/1.1\r\n" + strings.Join(append(headers, "\r\n"), "\r\n")
}

// post sends a body with a length.
func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", path, withJSON, len(body), body)
}

// sized sends a body of 15 bytes, or says that it does.
func sized(headers, body string) string { return toCreate + headers + "\r\n\r\n" + body }

// lists is JSON of many levels.
func lists(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func hostileFraming() []attack {
	return []attack{
		{name: "two lengths", text: sized("Content-Length: 15\r\nContent-Length: 0", made), want: "400"},
		{name: "one length twice", text: sized("Content-Length: 15\r\nContent-Length: 15", made), want: "201", creates: "made"},
		{name: "list of lengths", text: sized("Content-Length: 15, 15", made), want: "400"},
		{name: "length with a sign", text: sized("Content-Length: +15", made), want: "400"},
		{name: "negative length", text: sized("Content-Length: -15", made), want: "400"},
		{name: "hexadecimal length", text: sized("Content-Length: 0xf", made), want: "400"},
		{name: "length beyond 64 bits", text: sized("Content-Length: 18446744073709551616", made), want: "400"},
		{name: "length and chunks", text: sized("Content-Length: 4\r\nTransfer-Encoding: chunked", "0\r\n\r\n"+withoutKey("POST "+computers, "Host: HOST"))},
		{name: "chunks, hidden by a blank", text: sized("Transfer-Encoding : chunked", "f\r\n"+made+"\r\n0\r\n\r\n"), want: "400"},
		{name: "chunks twice", text: sized("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), want: "501"},
		{name: "chunks that are no chunks", text: sized("Transfer-Encoding: xchunked", "0\r\n\r\n"), want: "501"},
		{name: "folded header", text: sized("Content-Length: 15\r\nX-Folded: a\r\n Content-Length: 0", made), want: "201", creates: "made"},
		{name: "lines without carriage return", text: strings.ReplaceAll(get(computers), "\r", "")},
		{name: "carriage return in a header", text: "GET " + computers + " HTTP/1.1\r\nHost: HOST\r\nX-A: b\rAuthorization: Bearer KEY\r\n\r\n", want: "400"},
		{name: "NUL in a header", text: "GET " + computers + " HTTP/1.1\r\nX-A: \x00\r\n" + withKey + "\r\n", want: "400"},
		{name: "two targets", text: "GET " + computers + " /_emulator/journal HTTP/1.1\r\n" + withKey + "\r\n", want: "400"},
		{name: "request in the body of a GET", text: "GET " + computers + " HTTP/1.1\r\n" + withJSON + "Content-Length: 15\r\n\r\n" + made, want: "400"},
		{name: "chunk without a size", text: chunked + "zz\r\n" + made + "\r\n0\r\n\r\n", want: "cut"},
		{name: "negative chunk", text: chunked + "-1\r\n" + made + "\r\n0\r\n\r\n", want: "cut"},
		{name: "chunk beyond 64 bits", text: chunked + "fffffffffffffffff\r\n" + made, want: "cut"},
		{name: "chunk without its end", text: chunked + "f\r\n" + made + "0\r\n\r\n", want: "cut"},
		{name: "chunks without an end", text: chunked + "f\r\n" + made + "\r\n", want: "cut"},
		{name: "chunk with a giant extension", text: chunked + "f;x=" + strings.Repeat("x", 1<<16) + "\r\n" + made + "\r\n0\r\n\r\n", want: "cut"},
		{name: "many empty extensions", text: chunked + strings.Repeat("1;"+strings.Repeat("x", 3000)+"\r\n \r\n", 100) + "0\r\n\r\n"},
		{name: "key in a trailer", text: "POST " + computers + " HTTP/1.1\r\nHost: HOST\r\nTrailer: Authorization\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n" + made + "\r\n0\r\nAuthorization: Bearer KEY\r\n\r\n", want: "401"},
		{name: "giant header", text: withoutKey("GET "+computers, "Host: HOST", "X-A: "+strings.Repeat("x", tooLong)), want: "431"},
		{name: "many headers", text: withoutKey("GET "+computers, "Host: HOST", strings.Repeat("X-A: b\r\n", tooLong/8)), want: "431"},
		{name: "giant path", text: get("/" + strings.Repeat("x", tooLong)), want: "431"},
		{name: "giant body", text: post(computers, `{"name":"`+strings.Repeat("x", tooMuch)+`"}`), want: "400"},
		{name: "giant body in chunks", text: chunked + strings.Repeat("400\r\n"+strings.Repeat(" ", 1024)+"\r\n", 1100) + "0\r\n\r\n", want: "400"},
		{name: "body of a promised exabyte", text: sized("Content-Length: 1152921504606846976", strings.Repeat(" ", tooMuch)), want: "400"},
		{name: "body that ends early", text: sized("Content-Length: 16", made), want: "cut"},
		{name: "headers that end early", text: "POST " + computers + " HTTP/1.1\r\n" + withJSON + "Content-Le", want: "400"},
	}
}

func hostileRequests(object string) []attack {
	return []attack{
		{name: "TRACE", text: withoutKey("TRACE "+computers, "Host: HOST", "X-Secret: KEY"), want: "405"},
		{name: "CONNECT", text: withoutKey("CONNECT HOST", "Host: HOST"), want: "404"},
		{name: "OPTIONS of all", text: withoutKey("OPTIONS *", "Host: HOST")},
		{name: "lower case method", text: withoutKey("get "+computers, "Host: HOST"), want: "405"},
		{name: "HEAD", text: "HEAD " + computers + " HTTP/1.1\r\n" + withKey + "\r\n", want: "405"},
		{name: "method in a header", text: withoutKey("POST "+object, "Host: HOST", "Authorization: Bearer KEY", "X-HTTP-Method-Override: DELETE", "X-Method-Override: DELETE"), want: "405"},
		{name: "path upward", text: get("/api/v0/computers/../service-accounts"), want: "404"},
		{name: "path upward, encoded", text: get("/api/v0/computers/%2e%2e/service-accounts"), want: "404"},
		{name: "path upward with an encoded slash", text: get(computers + "/..%2f..%2f..%2fetc%2fpasswd"), want: "404"},
		{name: "path upward with backslashes", text: get(computers + `/..\..\service-accounts`), want: "404"},
		{name: "path with empty segments", text: get("//api/v0/computers"), want: "404"},
		{name: "control API upward", text: withoutKey("GET /status/../_emulator/journal", "Host: HOST"), want: "404"},
		{name: "control API, encoded, without the key", text: withoutKey("GET /%5femulator/journal", "Host: HOST"), want: "401"},
		{name: "control API, redirected", text: withoutKey("GET /_emulator//evil.example/%0d%0aSet-Cookie:a=b", "Host: HOST", "Authorization: Bearer KEY"), want: "307"},
		{name: "file of a page upward", text: withoutKey("GET /status/../emulator.go/x.css", "Host: HOST"), want: "404"},
		{name: "file of a page upward, encoded", text: withoutKey("GET /status/..%2f..%2fsecret.js", "Host: HOST"), want: "404"},
		{name: "directory of the pages", text: withoutKey("GET /status/", "Host: HOST"), want: "404"},
		{name: "object page upward", text: withoutKey("GET /objects/computers/..%2f..%2f", "Host: HOST"), want: "404"},
		{name: "object page with NUL", text: withoutKey("GET /objects/computers/%00", "Host: HOST"), want: "404"},
		{name: "object page of an unknown kind", text: withoutKey("GET /objects/meta/bootstrapKey", "Host: HOST"), want: "404"},
		{name: "object page with a page number", text: withoutKey("GET /objects/computers?page=-9223372036854775808&of=%00", "Host: HOST"), want: "404"},
		{name: "object page with a huge page number", text: withoutKey("GET /objects/computers?page=9223372036854775807", "Host: HOST"), want: "404"},
		{name: "run page with numbers", text: withoutKey("GET /runs/99999999999999999999?from=-1", "Host: HOST"), want: "404"},
		{name: "NUL in a path", text: get(computers + "/name/a%00b"), want: "400"},
		{name: "invalid UTF-8 in a path", text: get(computers + "/name/%ff%fe"), want: "404"},
		{name: "raw bytes in a path", text: get(computers + "/name/\xff\xfe"), want: "404"},
		{name: "NUL in a query", text: get(computers + "?serviceAccountId=%00"), want: "400"},
		{name: "invalid UTF-8 in a query", text: get(sessions + "?cursor=%ff%fe"), want: "400"},
		{name: "semicolons in a query", text: get(sessions + "?limit=1;limit=2"), want: "400"},
		{name: "long cursor", text: get(members + "?cursor=" + strings.Repeat("x", 1<<19)), want: "400"},
	}
}

func hostileBodies(object string) []attack {
	long := strings.Repeat("x", 40_000) // More than a key of the database may have.
	typed := func(contentType, body string) string {
		return strings.Replace(post(computers, body), "application/json", contentType, 1)
	}
	return []attack{
		{name: "NUL in a string", text: post(computers, `{"name":"a\u0000b"}`), want: "400"},
		{name: "raw NUL in a string", text: post(computers, "{\"name\":\"a\x00b\"}"), want: "400"},
		{name: "invalid UTF-8 in a string", text: post(computers, "{\"name\":\"\xff\xfe\"}"), want: "400"},
		{name: "lone surrogate", text: post(computers, `{"name":"\ud800"}`), want: "400"},
		{name: "byte order mark", text: post(computers, "\xef\xbb\xbf"+made), want: "400"},
		{name: "UTF-16", text: post(computers, "\xff\xfe{\x00}\x00"), want: "400"},
		{name: "list of many levels", text: post(computers, lists(1<<19)), want: "400"},
		{name: "many levels in a field", text: post(computers, `{"name":"made","repos":`+lists(9000)+`}`), want: "400"},
		{name: "many levels of objects", text: post(sessions, strings.Repeat(`{"sessionSettings":`, 9000)+"{}"+strings.Repeat("}", 9000)), want: "400"},
		{name: "many levels without an end", text: post(computers, strings.Repeat(`{"name":`, 1<<16)), want: "400"},
		{name: "field twice", text: post(computers, `{"name":"made","name":"other"}`), want: "400"},
		{name: "field twice, escaped", text: post(computers, `{"name":"made","n\u0061me":"other"}`), want: "400"},
		{name: "field in capitals", text: post(computers, `{"Name":"made"}`), want: "400"},
		{name: "field of a prototype", text: post(computers, `{"name":"made","__proto__":{"role":"owner"}}`), want: "400"},
		{name: "many fields", text: post(computers, `{"name":"made"`+strings.Repeat(`,"":1`, 1<<17)+`}`), want: "400"},
		{name: "huge number", text: post(computers+"/bulk", `{"namePrefix":"made","quantity":1e400}`), want: "400"},
		{name: "number with a huge exponent", text: post(computers+"/bulk", `{"namePrefix":"made","quantity":1e-999999999}`), want: "400"},
		{name: "number of many digits", text: post(computers+"/bulk", `{"namePrefix":"made","quantity":1`+strings.Repeat("0", 1<<19)+`}`), want: "400"},
		{name: "negative zero", text: post(computers+"/bulk", `{"namePrefix":"made","quantity":-0}`), want: "400"},
		{name: "not a number", text: post(computers+"/bulk", `{"namePrefix":"made","quantity":NaN}`), want: "400"},
		{name: "a list", text: post(computers, "["+made+"]"), want: "400"},
		{name: "two bodies", text: post(computers, made+made), want: "400"},
		{name: "a comment", text: post(computers, "/**/"+made), want: "400"},
		{name: "nothing", text: post(computers, ""), want: "400"},
		{name: "null", text: post(computers, "null"), want: "400"},
		{name: "form", text: typed("application/x-www-form-urlencoded", "name=made"), want: "400"},
		{name: "JSON as text, as a website sends it", text: typed("text/plain", made), want: "400"},
		{name: "JSON of another kind", text: typed("application/vnd.api+json", made), want: "400"},
		{name: "two content types", text: typed("text/plain\r\nContent-Type: application/json", made), want: "400"},
		{name: "content type of NUL", text: typed("application/json;\x00", made), want: "400"},
		{name: "another character set", text: typed("application/json; charset=utf-16", made), want: "201", creates: "made"},
		{name: "no content type", text: strings.Replace(post(computers, made), "Content-Type: application/json\r\n", "", 1), want: "400"},
		{name: "compressed body", text: typed("application/json\r\nContent-Encoding: gzip", "\x1f\x8b\x08\x00\x00\x00\x00\x00"), want: "400"},
		{name: "body of a DELETE", text: strings.Replace(post(object, made), "POST", "DELETE", 1), want: "400"},
		{name: "long email", text: post(invite, `{"email":"`+long+`@people.example","role":"user"}`), want: "400"},
		{name: "long address of a repository", text: post(wiki, `{"repoUrl":"https://code.example/`+long+`","branch":"main","commitHash":"abc","hasLocalChanges":false,"hasNonRemoteCommits":false}`), want: "403"},
		{name: "long name of a CI file", text: post(ciEdit, `{"action":"delete","repos":[{"repoFullName":"acme/web","filePath":".github/workflows/`+long+`.yml"}]}`), want: "400"},
	}
}

func hostileCallers() []attack {
	create := func(authorization string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n%sContent-Length: 15\r\n\r\n%s", computers, authorization, made)
	}
	attacks := []attack{
		{name: "no key", text: create(""), want: "401"},
		{name: "empty key", text: create("Authorization: Bearer \r\n"), want: "401"},
		{name: "key without a scheme", text: create("Authorization: KEY\r\n"), want: "401"},
		{name: "key of another scheme", text: create("Authorization: Basic KEY\r\n"), want: "401"},
		{name: "key after two blanks", text: create("Authorization: Bearer  KEY\r\n"), want: "401"},
		{name: "key with something after it", text: create("Authorization: Bearer KEY, Bearer KEY\r\n"), want: "401"},
		{name: "wrong key before the key", text: create("Authorization: Bearer fk\r\nAuthorization: Bearer KEY\r\n"), want: "401"},
		{name: "key for a proxy", text: create("Proxy-Authorization: Bearer KEY\r\nCookie: Authorization=KEY\r\n"), want: "401"},
		{name: "giant key", text: create("Authorization: Bearer " + strings.Repeat("x", 1<<19) + "\r\n"), want: "401"},
		{name: "control API with a key of two schemes", text: withoutKey("POST /_emulator/reset", "Host: HOST", "Authorization: Basic Bearer KEY"), want: "401"},
		{name: "control API without the key, from here", text: withoutKey("POST /_emulator/reset", "Host: localhost", "Origin: http://localhost", "X-Forwarded-For: 127.0.0.1"), want: "401"},
		{name: "control API without the key, from a website", text: withoutKey("POST /_emulator/reset", "Host: evil.example", "Origin: http://evil.example"), want: "401"},
		{name: "control API without the key, for a proxy", text: withoutKey("POST http://localhost/_emulator/reset", "Host: evil.example"), want: "401"},
		{name: "control API with an unknown field", text: post("/_emulator/faults", `{"kind":"non-json","sleep":1}`), want: "400"},
		{name: "control API with a giant body", text: post("/_emulator/faults", `{"kind":"`+strings.Repeat("x", 1<<20)+`"}`), want: "400"},
		{name: "control API with many levels", text: post("/_emulator/faults", lists(1<<16)), want: "400"},
		{name: "preflight of a website", text: withoutKey("OPTIONS "+computers, "Host: HOST", "Origin: http://evil.example", "Access-Control-Request-Method: POST"), want: "405"},
		{name: "HTTP/0.9", text: "GET /\r\n\r\n", want: "400"},
		{name: "HTTP/1.0 without a host", text: "GET " + computers + " HTTP/1.0\r\nAuthorization: Bearer KEY\r\n\r\n", want: "200"},
		{name: "HTTP/1.0 with chunks", text: strings.Replace(chunked, "HTTP/1.1", "HTTP/1.0", 1) + "f\r\n" + made + "\r\n0\r\n\r\n"},
		{name: "HTTP/2 at once", text: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"},
		{name: "upgrade to HTTP/2", text: withoutKey("GET "+computers, "Host: HOST", "Authorization: Bearer KEY", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"), want: "200"},
		{name: "upgrade to a web socket", text: withoutKey("GET "+computers, "Host: HOST", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="), want: "401"},
		{name: "TLS", text: "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", want: "400"},
		{name: "garbage", text: strings.Repeat("\x00\xff\r\n", 1000), want: "400"},
		{name: "request to continue", text: sized("Content-Length: 15\r\nExpect: 100-continue", made), want: "100 201", creates: "made"},
		{name: "unknown expectation", text: sized("Content-Length: 15\r\nExpect: 200-ok", made), want: "417"},
		{name: "many requests at once", text: strings.Repeat(get(computers+"/providers"), 50), want: strings.TrimSpace(strings.Repeat("200 ", 50))},
		{name: "garbage after a request", text: get(computers+"/providers") + "\x00\x01\r\n\r\n", want: "200 400"},
	}
	// Pages need no key, so that only this machine may read them, by a name that no website can have.
	for _, path := range []string{"/", "/objects/computers", "/status/events", "/status/style.css", "/runs/1"} {
		for _, host := range []string{"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "2130706433", ""} {
			attacks = append(attacks, attack{name: "page " + path + " at " + host, text: withoutKey("GET "+path, "Host: "+host, "X-Forwarded-Host: localhost", "X-Forwarded-For: 127.0.0.1", "Forwarded: host=localhost"), want: "404"})
		}
		attacks = append(attacks,
			attack{name: "page " + path + " of a proxy", text: withoutKey("GET http://evil.example"+path, "Host: localhost"), want: "404"},
			attack{name: "page " + path + " with a user", text: withoutKey("GET "+path, "Host: localhost@evil.example"), want: "400"},
			attack{name: "page " + path + " to write", text: withoutKey("POST "+path, "Host: localhost", "Content-Length: 0"), want: "404"},
			attack{name: "page " + path + asMeant, text: withoutKey("GET "+path, "Host: localhost"), want: "200"},
		)
	}
	return attacks
}

// asMeant ends the name of a case that is no attack.
const asMeant = " as it is meant"

func hostileFiles() []attack {
	return []attack{
		{name: "data file upward", text: withoutKey("GET /download/../state.db", "Host: HOST"), want: "403"},
		{name: "data file upward, encoded", text: withoutKey("GET /download/..%2fstate.db?expires=9999999999999&contentType=a&signature=", "Host: HOST"), want: "403"},
		{name: "key to the file storage", text: get("/download/x"), want: "403"},
		{name: "upload that is no form", text: withoutKey("POST /upload", "Host: HOST", "Content-Type: multipart/form-data", "Content-Length: 0"), want: "400"},
		{name: "upload without a signature", text: withoutKey("POST /upload", "Host: HOST", "Content-Type: multipart/form-data; boundary=x", "Content-Length: 69") +
			"--x\r\nContent-Disposition: form-data; name=file\r\n\r\n../../made\r\n--x--", want: "403"},
		{name: "API at the file storage", text: strings.Replace(post(computers, made), "Authorization", "X-A", 1), want: "404"},
	}
}

// hostileConnections are clients that stop in the middle, and what they got in the end.
func hostileConnections(b *besieged) map[string]func(*attack) string {
	half := sized("Content-Length: 15", made[:7])
	return map[string]func(*attack) string{
		"slow body": func(c *attack) string {
			conn := b.dial(b.URL(), half)
			b.survived(attack{}, "") // Others are not held up.
			for _, char := range made[7:] {
				_, err := conn.Write([]byte(string(char)))
				must(b.t, err)
			}
			c.want, c.creates = "201", "made"
			return b.rest(conn)
		},
		"body that never ends": func(c *attack) string {
			conn := b.dial(b.URL(), half)
			b.survived(attack{}, "")
			must(b.t, conn.Close())
			return ""
		},
		"headers that never end": func(*attack) string {
			b.dial(b.URL(), toCreate)
			return ""
		},
		"many connections": func(*attack) string {
			for i := range 200 {
				b.dial(b.URL(), get(computers)[:i/4])
			}
			return ""
		},
		"responses that nobody reads": func(*attack) string {
			for range 20 {
				must(b.t, b.dial(b.URL(), strings.Repeat(get(computers), 20)).Close())
			}
			return ""
		},
		"events that nobody reads": func(c *attack) string {
			events := withoutKey("GET /status/events", "Host: localhost")
			open := make([]*net.TCPConn, 40) // More than there are streams.
			for i := range open {
				open[i] = b.dial(b.URL(), events)
			}
			b.survived(attack{}, "")
			for _, conn := range open {
				must(b.t, conn.Close())
			}
			// The emulator notices a moment later that they are closed.
			for began := time.Now(); ; {
				if got := b.rest(b.dial(b.URL(), events)); statuses(events, got) == "200" || time.Since(began) > time.Minute {
					c.want = "200"
					return got
				}
			}
		},
	}
}

// Whatever a client sends, the emulator goes on, changes nothing that it refuses, and shows no secret.
func TestHostileHTTP_slow(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: `make test-slow` runs it")
	}
	t.Parallel()
	b := besiege(t)
	run := func(c attack, send func(*attack) string) {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			got := send(&c)
			if said := statuses(c.text, got); said != c.want && c.want != "" {
				t.Errorf("%q, want %q: %.1000s", said, c.want, got)
			}
			if strings.HasSuffix(c.name, asMeant) && !strings.Contains(got, "\r\nContent-Security-Policy: default-src 'none';") {
				t.Errorf("without a policy: %.1000s", got)
			}
			b.survived(c, got)
		})
	}
	for address, attacks := range map[string][]attack{
		b.URL():      slices.Concat(hostileFraming(), hostileRequests(b.object), hostileBodies(b.object), hostileCallers()),
		b.FilesURL(): hostileFiles(),
	} {
		for _, c := range attacks {
			run(c, func(c *attack) string { return b.rest(b.dial(address, c.text)) })
		}
	}
	for name, send := range hostileConnections(b) {
		run(attack{name: name}, send)
	}
}
