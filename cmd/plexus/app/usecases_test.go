package app

import "testing"

func TestTimeZone(t *testing.T) {
	t.Setenv("TZ", "nowhere at all")
	machine := timeZone()
	for tz, want := range map[string]string{"Asia/Tokyo": "Asia/Tokyo", ":Asia/Tokyo": "Asia/Tokyo", "": machine, "../x": machine} {
		t.Setenv("TZ", tz)
		if got := timeZone(); got != want {
			t.Errorf("TZ=%q gives %q; want %q", tz, got, want)
		}
	}
	if machine == "nowhere at all" {
		t.Error("a name that no zone has was taken")
	}
}
