// The peer in Go: what an operator's admission webhook usually is, doing what the benchmark asks of ours and no more.
// It puts the managed fields of a HyperConverged back, and denies a change of a managed field of a MachineConfig.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// managed is a field and the value that it must have.
type managed struct {
	path  []string
	value any
}

// Where the autopilot manages the same fields: see the template of the HyperConverged.
var hyperConverged = []managed{
	{[]string{"spec", "deployment", "uninstallStrategy"}, "BlockUninstallIfWorkloadsExist"},
	{[]string{"spec", "virtualization", "liveMigrationConfig", "allowAutoConverge"}, false},
	{[]string{"spec", "virtualization", "liveMigrationConfig", "allowPostCopy"}, false},
	{[]string{"spec", "virtualization", "liveMigrationConfig", "completionTimeoutPerGiB"}, int64(150)},
	{[]string{"spec", "virtualization", "liveMigrationConfig", "progressTimeout"}, int64(150)},
}

// What a node boots with.
var machineConfig = [][]string{
	{"spec", "config", "ignition"},
	{"spec", "kernelArguments"},
}

type handler struct {
	decoder admission.Decoder
}

func (h handler) Handle(_ context.Context, request admission.Request) admission.Response {
	object, old := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	if err := h.decoder.DecodeRaw(request.Object, object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if err := h.decoder.DecodeRaw(request.OldObject, old); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	switch request.Kind.Kind {
	case "HyperConverged":
		return correct(request, object, old)
	case "MachineConfig":
		return protect(object, old)
	default:
		return admission.Allowed("")
	}
}

// correct puts managed fields back that the writer moved.
func correct(request admission.Request, object, old *unstructured.Unstructured) admission.Response {
	var warnings []string
	for _, field := range hyperConverged {
		found, _, err := unstructured.NestedFieldNoCopy(object.Object, field.path...)
		if err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		before, _, _ := unstructured.NestedFieldNoCopy(old.Object, field.path...)
		if reflect.DeepEqual(found, field.value) || reflect.DeepEqual(found, before) {
			continue
		}
		if err := unstructured.SetNestedField(object.Object, field.value, field.path...); err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		warnings = append(warnings, fmt.Sprintf("/%s kept at %v", strings.Join(field.path, "/"), field.value))
	}
	if len(warnings) == 0 {
		return admission.Allowed("")
	}
	corrected, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, corrected).WithWarnings(warnings...)
}

// protect denies what would reboot nodes.
func protect(object, old *unstructured.Unstructured) admission.Response {
	for _, path := range machineConfig {
		found, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
		before, _, _ := unstructured.NestedFieldNoCopy(old.Object, path...)
		if !reflect.DeepEqual(found, before) {
			return admission.Denied(fmt.Sprintf("/%s reboots nodes", strings.Join(path, "/")))
		}
	}
	return admission.Allowed("")
}

// main serves at a port of the loopback address, with the tls.crt and tls.key of a folder.
func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	ctrl.SetLogger(logr.Discard())
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: os.Args[2]})
	server.Register("/mutate", &admission.Webhook{Handler: handler{admission.NewDecoder(runtime.NewScheme())}})
	if err := server.Start(ctrl.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}
