// SPDX-License-Identifier: Apache-2.0

// What otelctx-top wrote in one run, by the packages of those who read it: the
// collector's unmarshaler, which its file receiver calls with each line, and
// pprof's parser.
//
// usage: profiles OTLP_JSON PPROF FOLDED
//
// Prints "ok SENTENCE" or "not ok SENTENCE: reason", and then what is in them: a
// line for each resource and each route.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// totals of processor time, in ns, by stack: frames with NULs between.
type totals map[string]int64

func check(sentence string, err error) {
	if err == nil {
		fmt.Println("ok", sentence)
	} else {
		reason := strings.ReplaceAll(err.Error(), "\n", "; ")
		fmt.Printf("not ok %s: %s\n", sentence, reason)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// ---- OTLP ----------------------------------------------------------------

func unmarshal(file []byte) ([]pprofile.Profiles, error) {
	var all []pprofile.Profiles

	reader := pprofile.JSONUnmarshaler{DisallowUnknownFields: true}
	if !bytes.HasSuffix(file, []byte("\n")) {
		return nil, errors.New("the last line does not end")
	}
	for line := range bytes.Lines(file) {
		data, err := reader.UnmarshalProfiles(line)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func ofAll(all []pprofile.Profiles, call func(pprofile.Profiles) error) error {
	var errs []error
	for _, data := range all {
		errs = append(errs, call(data))
	}
	return errors.Join(errs...)
}

// references collects which entries of a table something refers to.
type references struct {
	errs []error
	seen map[string]map[int32]bool
}

func (r *references) to(table string, length int, index int32) bool {
	if r.seen[table] == nil {
		r.seen[table] = map[int32]bool{}
	}
	r.seen[table][index] = true
	if index < 0 || int(index) >= length {
		r.errs = append(r.errs, fmt.Errorf("%s has no entry %d", table, index))
		return false
	}
	return true
}

func (r *references) all(table string, length int) {
	for i := range int32(length) {
		if i > 0 && !r.seen[table][i] {
			r.errs = append(r.errs, fmt.Errorf("nothing refers to %s[%d]", table, i))
		}
	}
}

func (r *references) valueType(d pprofile.ProfilesDictionary, value pprofile.ValueType) {
	r.to("stringTable", d.StringTable().Len(), value.TypeStrindex())
	r.to("stringTable", d.StringTable().Len(), value.UnitStrindex())
}

func (r *references) attributes(d pprofile.ProfilesDictionary, indices pcommon.Int32Slice) {
	keys := map[int32]bool{}
	for _, i := range indices.AsRaw() {
		if !r.to("attributeTable", d.AttributeTable().Len(), i) {
			continue
		}
		attribute := d.AttributeTable().At(int(i))
		key := attribute.KeyStrindex()
		r.to("stringTable", d.StringTable().Len(), key)
		r.to("stringTable", d.StringTable().Len(), attribute.UnitStrindex())
		if key == 0 || keys[key] {
			r.errs = append(r.errs, fmt.Errorf("a sample has key %d twice, or 0", key))
		}
		keys[key] = true
	}
}

func (r *references) stack(d pprofile.ProfilesDictionary, index int32) {
	if !r.to("stackTable", d.StackTable().Len(), index) {
		return
	}
	for _, i := range d.StackTable().At(int(index)).LocationIndices().AsRaw() {
		if !r.to("locationTable", d.LocationTable().Len(), i) {
			continue
		}
		location := d.LocationTable().At(int(i))
		r.to("mappingTable", d.MappingTable().Len(), location.MappingIndex())
		for _, line := range location.Lines().All() {
			if r.to("functionTable", d.FunctionTable().Len(), line.FunctionIndex()) {
				function := d.FunctionTable().At(int(line.FunctionIndex()))
				r.to("stringTable", d.StringTable().Len(), function.NameStrindex())
				r.to("stringTable", d.StringTable().Len(), function.SystemNameStrindex())
				r.to("stringTable", d.StringTable().Len(), function.FilenameStrindex())
			}
		}
	}
}

// indexes: each is in range, and each entry is referred to.
func indexes(data pprofile.Profiles) error {
	r := references{seen: map[string]map[int32]bool{}}
	d := data.Dictionary()
	each(data, func(_ pcommon.Resource, p pprofile.Profile, s pprofile.Sample) {
		r.valueType(d, p.SampleType())
		r.stack(d, s.StackIndex())
		r.attributes(d, s.AttributeIndices())
		r.to("linkTable", d.LinkTable().Len(), s.LinkIndex())
		if s.Values().Len() != 1 || s.Values().At(0) <= 0 {
			r.errs = append(r.errs, errors.New("a sample has no value"))
		}
	})
	if len(r.errs) == 0 {
		r.all("attributeTable", d.AttributeTable().Len())
		r.all("functionTable", d.FunctionTable().Len())
		r.all("linkTable", d.LinkTable().Len())
		r.all("locationTable", d.LocationTable().Len())
		r.all("mappingTable", d.MappingTable().Len())
		r.all("stackTable", d.StackTable().Len())
		r.all("stringTable", d.StringTable().Len())
	}
	return errors.Join(r.errs...)
}

// zeros: the first entry of each table is empty.
func zeros(data pprofile.Profiles) error {
	d := data.Dictionary()
	if d.AttributeTable().Len() == 0 || d.FunctionTable().Len() == 0 || d.LinkTable().Len() == 0 ||
		d.LocationTable().Len() == 0 || d.MappingTable().Len() == 0 || d.StackTable().Len() == 0 ||
		d.StringTable().Len() == 0 {
		return errors.New("a table has no entry")
	}
	if !d.AttributeTable().At(0).Equal(pprofile.NewKeyValueAndUnit()) ||
		!d.FunctionTable().At(0).Equal(pprofile.NewFunction()) ||
		!d.LinkTable().At(0).TraceID().IsEmpty() || !d.LinkTable().At(0).SpanID().IsEmpty() ||
		!d.LocationTable().At(0).Equal(pprofile.NewLocation()) ||
		!d.MappingTable().At(0).Equal(pprofile.NewMapping()) ||
		!d.StackTable().At(0).Equal(pprofile.NewStack()) || d.StringTable().At(0) != "" {
		return errors.New("a first entry has a value")
	}
	return nil
}

// distinct: no table has an entry twice.
func distinct(data pprofile.Profiles) error {
	d := data.Dictionary()
	var errs []error
	of := func(table string, entries []string) {
		slices.Sort(entries)
		if len(slices.Compact(slices.Clone(entries))) != len(entries) {
			errs = append(errs, fmt.Errorf("%s has an entry twice", table))
		}
	}
	var attributes, functions, links, stacks []string
	for _, one := range d.AttributeTable().All() {
		attributes = append(attributes, fmt.Sprint(one.KeyStrindex(), one.Value().Type(), one.Value().AsString()))
	}
	for _, one := range d.FunctionTable().All() {
		functions = append(functions, fmt.Sprint(one.NameStrindex()))
	}
	for _, one := range d.LinkTable().All() {
		links = append(links, one.TraceID().String()+one.SpanID().String())
	}
	for _, one := range d.StackTable().All() {
		stacks = append(stacks, fmt.Sprint(one.LocationIndices().AsRaw()))
	}
	of("attributeTable", attributes)
	of("functionTable", functions)
	of("linkTable", links)
	of("stackTable", stacks)
	of("stringTable", d.StringTable().AsRaw())
	return errors.Join(errs...)
}

func each(data pprofile.Profiles, call func(pcommon.Resource, pprofile.Profile, pprofile.Sample)) {
	for _, resource := range data.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, one := range scope.Profiles().All() {
				for _, sample := range one.Samples().All() {
					call(resource.Resource(), one, sample)
				}
			}
		}
	}
}

func frames(d pprofile.ProfilesDictionary, sample pprofile.Sample) string {
	var names []string
	stack := d.StackTable().At(int(sample.StackIndex()))
	for _, i := range stack.LocationIndices().AsRaw() {
		for _, line := range d.LocationTable().At(int(i)).Lines().All() {
			function := d.FunctionTable().At(int(line.FunctionIndex()))
			names = append(names, d.StringTable().At(int(function.NameStrindex())))
		}
	}
	slices.Reverse(names)
	return strings.Join(names, "\x00")
}

func attributesOf(d pprofile.ProfilesDictionary, sample pprofile.Sample) map[string]string {
	found := map[string]string{}
	for _, i := range sample.AttributeIndices().AsRaw() {
		one := d.AttributeTable().At(int(i))
		found[d.StringTable().At(int(one.KeyStrindex()))] = one.Value().AsString()
	}
	return found
}

func otlpTotals(all []pprofile.Profiles, kind string) totals {
	sums := totals{}
	for _, data := range all {
		d := data.Dictionary()
		each(data, func(_ pcommon.Resource, p pprofile.Profile, s pprofile.Sample) {
			if d.StringTable().At(int(p.SampleType().TypeStrindex())) == kind {
				sums[frames(d, s)] += s.Values().At(0)
			}
		})
	}
	return sums
}

// describe prints what has a route, and each resource.
func describe(all []pprofile.Profiles) {
	lines := map[string]bool{}
	for _, data := range all {
		d := data.Dictionary()
		for _, resource := range data.ResourceProfiles().All() {
			for _, scope := range resource.ScopeProfiles().All() {
				line := "resource"
				for key, value := range resource.Resource().Attributes().All() {
					line += fmt.Sprintf(" %s=%q", key, value.AsString())
				}
				for _, one := range scope.Profiles().All() {
					line += fmt.Sprintf(" %s:%s", d.StringTable().At(int(one.SampleType().TypeStrindex())),
						d.StringTable().At(int(one.SampleType().UnitStrindex())))
				}
				lines[line+" by "+scope.Scope().Name()] = true
			}
		}
		each(data, func(_ pcommon.Resource, _ pprofile.Profile, s pprofile.Sample) {
			attributes := attributesOf(d, s)
			link := d.LinkTable().At(int(s.LinkIndex()))
			if route, ok := attributes["http.route"]; ok {
				lines[fmt.Sprintf("route %q %s %s thread.name=%s", route, link.TraceID(), link.SpanID(),
					attributes["thread.name"])] = true
			} else if s.LinkIndex() != 0 {
				lines["link without route"] = true
			}
		})
	}
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		fmt.Println(line)
	}
}

// ---- pprof ---------------------------------------------------------------

func pprofTotals(parsed *profile.Profile, kind string) totals {
	sums := totals{}
	at := slices.IndexFunc(parsed.SampleType, func(t *profile.ValueType) bool { return t.Type == kind })
	for _, sample := range parsed.Sample {
		var names []string
		for _, location := range sample.Location {
			names = append(names, location.Line[0].Function.Name)
		}
		slices.Reverse(names)
		if sample.Value[at] != 0 {
			sums[strings.Join(names, "\x00")] += sample.Value[at]
		}
	}
	return sums
}

// ---- folded --------------------------------------------------------------

var escapes = map[rune]string{'\n': `\n`, '\t': `\t`, '\r': `\r`, '"': `\"`, '\\': `\\`, ';': ":"}

// fold: a stack as a folded line has it.
func fold(stack string) string {
	var out strings.Builder
	for _, one := range stack {
		switch escape, ok := escapes[one]; {
		case one == 0:
			out.WriteByte(';')
		case ok:
			out.WriteString(escape)
		case one < 0x20 || one == 0x7f:
			fmt.Fprintf(&out, `\x%02x`, one)
		case one >= 0x80 && one <= 0x9f, one >= 0x2028 && one <= 0x202e, one >= 0x2066 && one <= 0x2069:
			fmt.Fprintf(&out, `\u{%04x}`, one)
		default:
			out.WriteRune(one)
		}
	}
	return out.String()
}

func foldedTotals(file []byte) (totals, error) {
	found := totals{}
	for line := range strings.Lines(string(file)) {
		stack, count, ok := cutLast(strings.TrimSuffix(line, "\n"))
		number, err := strconv.ParseInt(count, 10, 64)
		if !ok || err != nil || number <= 0 {
			return nil, fmt.Errorf("not a stack: %q", line)
		}
		if _, twice := found[stack]; twice {
			return nil, fmt.Errorf("twice: %q", stack)
		}
		found[stack] = number
	}
	return found, nil
}

func cutLast(line string) (string, string, bool) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 {
		return "", "", false
	}
	return line[:at], line[at+1:], true
}

func compareFolded(found, sums totals) error {
	wanted := totals{}
	for stack, ns := range sums {
		if ns >= 1000 {
			wanted[fold(stack)] = ns / 1000
		}
	}
	return compare(wanted, found)
}

// compare names the stacks that differ.
func compare(wanted, found totals) error {
	var errs []error
	for stack, value := range wanted {
		if found[stack] != value {
			errs = append(errs, fmt.Errorf("%q: expected %d, found %d", stack, value, found[stack]))
		}
	}
	for stack, value := range found {
		if _, ok := wanted[stack]; !ok {
			errs = append(errs, fmt.Errorf("%q: expected none, found %d", stack, value))
		}
	}
	return errors.Join(errs...)
}

func main() {
	all, err := unmarshal(must(os.ReadFile(os.Args[1])))
	check("the collector's unmarshaler knows every field of the OTLP profiles", err)
	check("the first entry of each table of the dictionary is empty", ofAll(all, zeros))
	err = ofAll(all, indexes)
	check("every index is in range, and every entry in use", err)
	if err != nil {
		return // nothing can be looked up
	}
	check("no table has an entry twice", ofAll(all, distinct))
	parsed, err := profile.ParseData(must(os.ReadFile(os.Args[2])))
	if err == nil {
		err = parsed.CheckValid()
	}
	check("pprof's own parser takes the profile", err)
	folded, err := foldedTotals(must(os.ReadFile(os.Args[3])))
	check("each line of the folded stacks is a stack and microseconds", err)

	sums := otlpTotals(all, "cpu")
	check("pprof and OTLP have the same processor time for each stack", compare(pprofTotals(parsed, "cpu"), sums))
	if wall := otlpTotals(all, "wall"); len(wall) > 0 {
		check("they have the same wall time", compare(pprofTotals(parsed, "wall"), wall))
		sums = wall
	}
	check("so have the folded stacks, in whole microseconds", compareFolded(folded, sums))
	describe(all)
}
