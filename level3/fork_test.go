package level3
import ("testing";"fmt";"os";"time";"sort")
func TestFork(t *testing.T){ if os.Getenv("FORK")=="" {t.Skip()}
 var tm team
 for _,work:=range []time.Duration{0,20*time.Microsecond,100*time.Microsecond} { for _,gap:=range []time.Duration{0,10*time.Microsecond,60*time.Microsecond} {
 var ds []float64
 spin:=func(d time.Duration){ for t0:=time.Now(); time.Since(t0)<d; {} }
 body:=func(w,k int){ spin(work) }
 for range 3000 { spin(gap); t0:=time.Now(); tm.run(2,2,body); ds=append(ds,float64(time.Since(t0)-work)/1e3) }
 sort.Float64s(ds); fmt.Printf("n= work %v gap %v overhead us: p10 %.1f p50 %.1f p90 %.1f\n",work,gap,ds[300],ds[1500],ds[2700])
 }}
}
